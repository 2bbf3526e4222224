import { isForCorrection, readCorrection } from '../corrections/correction.ts';
import {
  type CorrectionVerdict,
  type JudgedLink,
  type JudgedReceipt,
  judgeCorrections,
} from '../corrections/verify-corrections.ts';
import type { JsonObject } from '../json/types.ts';
import type { Verification } from '../verify.ts';

/** What the receipts of a bundle say of each other's corrections. No other verdict changes by it. */
export interface BundleCorrections {
  /** The verdict on each envelope that says that a receipt corrects another. */
  readonly corrections: readonly CorrectionVerdict[];
  /** Number of receipts of the bundle that such an envelope, which is valid, says are superseded. */
  readonly superseded: number;
}

/** The receipts of a bundle, or of a part of it, as far as corrections need them. Plain data. */
export interface TakenCorrections {
  readonly links: readonly JudgedLink[];
  /** Receipts that a link may name, as JSON: a part of a parsed receipt would keep its whole line in memory. */
  readonly receipts: readonly string[];
}

/** Finds which receipts of a bundle correct which (spec/corrections.md), without verifying one again. */
export class CorrectionsCheck {
  readonly #links: JudgedLink[] = [];
  readonly #receipts: string[] = [];

  /** Takes a valid receipt. @param sha256 its anchored hash, in hex */
  take(document: JsonObject, sha256: string, verdict: Verification): void {
    const { family, receipt_id, valid, integrity, issuer } = verdict;
    if ((family !== 'envelope' && family !== 'metering') || receipt_id === null) return;
    const name = { receipt_id, receipt_sha256: `sha256:${sha256}` };
    const says = readCorrection(document);
    if (says !== null) this.#links.push({ name, verdict, says, isForCorrection: isForCorrection(document) });
    else this.#receipts.push(JSON.stringify({ name, verdict: { valid, integrity, issuer, checks: [] } }));
  }

  get taken(): TakenCorrections {
    return { links: this.#links, receipts: this.#receipts };
  }

  /** Takes what another check has taken. */
  add({ links, receipts }: TakenCorrections): void {
    for (const one of links) this.#links.push(one);
    for (const one of receipts) this.#receipts.push(one);
  }

  finish(): BundleCorrections {
    const corrections = judgeCorrections(this.#links, this.#named());
    const superseded = corrections.filter(({ valid, corrects }) => valid && corrects.state === 'valid');
    return {
      corrections,
      superseded: new Set(superseded.map(({ corrects }) => corrects.receipt_sha256)).size,
    };
  }

  /** The receipts that links name, by id or by hash. */
  *#named(): Generator<JudgedReceipt> {
    const named = this.#links.flatMap(({ says }) => [says.corrects, says.correction]);
    const names = new Set(named.flatMap(({ receipt_id, receipt_sha256 }) => [receipt_id, receipt_sha256]));
    for (const text of this.#receipts) {
      const receipt: JudgedReceipt = JSON.parse(text);
      if (names.has(receipt.name.receipt_id) || names.has(receipt.name.receipt_sha256)) yield receipt;
    }
  }
}
