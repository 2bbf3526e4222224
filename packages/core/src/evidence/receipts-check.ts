import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import type { GivenReceipt } from '../streams/verify-stream.ts';
import type { Witnessed } from '../witness/judge.ts';
import type { WitnessPolicy } from '../witness/policy.ts';
import { type BundleCorrections, CorrectionsCheck } from './corrections-check.ts';
import type { EvidenceManifest } from './document.ts';
import { EvidenceFault } from './fault.ts';
import {
  bothWitnessed,
  follows,
  type JudgedPart,
  type ReceiptFindings,
  type ReceiptPlace,
  twice,
} from './part-judge.ts';
import { partPaths } from './parts.ts';

/** What was found of the receipts of a bundle. With a policy, `witnessed` is not satisfied where nothing is anchored. */
export interface PartCounts extends ReceiptFindings, BundleCorrections {}

/** Joins what was found of the parts of a bundle, in their order, and checks what no part shows by itself. */
export class ReceiptsCheck {
  readonly #manifest: EvidenceManifest;
  #part = 0;
  /** The last receipt that is ordered by its second of issue: each later one must come after it. */
  #last: ReceiptPlace = { at: -1, id: '' };
  readonly #bills = new Set<string>();
  readonly #counts = { receipts: 0, anchored: 0, metering: 0, untrusted: 0, unlogged: 0, unwitnessed: 0 };
  #witnessed: Witnessed | null = null;
  /** Anchored hashes and times of the receipts, for the check of the stream. */
  readonly given: GivenReceipt[] = [];
  readonly #corrections = new CorrectionsCheck();

  constructor(manifest: EvidenceManifest) {
    this.#manifest = manifest;
  }

  /** Number of receipts so far. */
  get receipts(): number {
    return this.#counts.receipts;
  }

  /** Takes the next part. @throws EvidenceFault receipt_twice */
  take({ span, bills, given, witnessed, corrections, ...counts }: JudgedPart): void {
    this.#part += 1;
    const path = partPaths(this.#part).receipts;
    if (span !== null) {
      if (!follows(span.first, this.#last)) throw twice(span.first.id, path);
      this.#last = span.last;
    }
    for (const id of bills) {
      if (this.#bills.has(id)) throw twice(id, path, 'appears twice');
      this.#bills.add(id);
    }
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) this.#counts[name] += counts[name];
    if (witnessed !== null) this.#witnessed = bothWitnessed(this.#witnessed, witnessed);
    for (const one of given) this.given.push(one);
    this.#corrections.add(corrections);
  }

  /** @param policy that by which the parts were judged @throws EvidenceFault receipt_count */
  async finish(
    policy: WitnessPolicy | undefined,
    engine: Ed25519Engine = defaultEngine,
  ): Promise<PartCounts> {
    for (const name of ['receipts', 'anchored', 'metering'] as const) {
      const [stated, found] = [this.#manifest[name], this.#counts[name]];
      if (found === stated) continue;
      throw new EvidenceFault(
        'receipt_count',
        `The manifest says ${stated} ${name}; the files hold ${found}.`,
      );
    }
    const none = (await policy?.judge(undefined, [], engine))?.witnessed;
    return { ...this.#counts, witnessed: this.#witnessed ?? none ?? null, ...this.#corrections.finish() };
  }
}
