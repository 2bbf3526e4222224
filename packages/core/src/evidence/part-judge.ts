import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import { type Sha256 } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import type { GivenReceipt } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import type { Trust } from '../trust/issuer.ts';
import { familyOf, type Verification, verifyParsed } from '../verify.ts';
import type { Witnessed } from '../witness/judge.ts';
import type { WitnessPolicy } from '../witness/policy.ts';
import { CorrectionsCheck, type TakenCorrections } from './corrections-check.ts';
import type { EvidenceManifest } from './document.ts';
import { EvidenceFault, type EvidenceReason } from './fault.ts';
import { groupsOf, linesOf, readObject } from './lines.ts';
import { digester, type ListedFile, readListed } from './listed-file.ts';
import { meteringDigest, partPaths } from './parts.ts';
import { RememberingEngine } from './remembering-engine.ts';
import type { ByteSource } from './zip-reader.ts';

/** A file of receipts with the files that belong to it: their anchors and, if there are any, their metering digests. */
export interface BundlePart {
  /** From 1. */
  readonly number: number;
  readonly files: readonly ListedFile[];
}

/** What the receipts of a part are judged by. */
export interface PartTerms {
  readonly period: EvidenceManifest['period'];
  readonly trust: Trust;
  /** Unix milliseconds. */
  readonly now: number;
  readonly engine?: Ed25519Engine | undefined;
  readonly witnessPolicy?: WitnessPolicy | undefined;
  readonly sha256?: Sha256 | undefined;
}

/** Place of a receipt among those that are ordered by their second of issue, then by id. */
export interface ReceiptPlace {
  /** Unix seconds. */
  readonly at: number;
  readonly id: string;
}

/** What was found of receipts, all of which are valid. */
export interface ReceiptFindings {
  readonly receipts: number;
  readonly anchored: number;
  readonly metering: number;
  /** Receipts that are intact, but whose issuer or key the trust bundle does not vouch for. */
  readonly untrusted: number;
  /** Anchored receipts whose anchor shows nothing: no log that the trust bundle lists signed a root over them. */
  readonly unlogged: number;
  /** Anchored receipts whose checkpoint the witnesses of the policy did not cosign; 0 without a policy. */
  readonly unwitnessed: number;
  /**
   * The verdict on all anchors together: `by` names the witnesses that cosigned each of their checkpoints. Null without a policy, and
   * of a part in which nothing is anchored.
   */
  readonly witnessed: Witnessed | null;
}

/** What was found of the receipts of a part. Plain data. */
export interface JudgedPart extends ReceiptFindings {
  /** The first and the last of the receipts that are ordered; null where there is none. */
  readonly span: { readonly first: ReceiptPlace; readonly last: ReceiptPlace } | null;
  /** Ids of the metering receipts. They may be dated long before they were stored, so their order is not checked. */
  readonly bills: readonly string[];
  /** Anchored hashes and times of the receipts, for the check of the stream. */
  readonly given: readonly GivenReceipt[];
  readonly corrections: TakenCorrections;
}

/** Is told, and awaited, how many bytes of a part were read and how many of its receipts verified. */
export type PartProgress = (done: { readonly bytes: number; readonly receipts: number }) => unknown;

/** A receipt that was read from its part, and whose anchor is still to be read. */
interface Read {
  readonly id: string;
  readonly issuedAt: number;
  readonly document: JsonObject;
}

/** A receipt that is valid, with its anchored hash in hex. */
interface Judged {
  readonly document: JsonObject;
  readonly given: GivenReceipt;
  readonly isAnchored: boolean;
  readonly verdict: Verification;
}

/** Number of receipts that are verified at once, so that the runtime can check signatures on all its cores. */
const GROUP = 64;

/** Judges parts of a bundle, each by itself: its receipts, then their anchors, then the metering digests. */
export class PartJudge {
  readonly #source: ByteSource;
  readonly #terms: PartTerms;
  readonly #digest: (bytes: Uint8Array) => string;
  /** Remembers the checkpoint that receipts under one root share, for as long as the signatures of a few groups. */
  readonly #engine: RememberingEngine;
  readonly #policy: WitnessPolicy | undefined;

  constructor(source: ByteSource, terms: PartTerms) {
    this.#source = source;
    this.#terms = terms;
    this.#digest = digester(terms.sha256);
    this.#engine = new RememberingEngine(terms.engine ?? defaultEngine, 4 * GROUP);
    this.#policy = terms.witnessPolicy && remembering(terms.witnessPolicy);
  }

  /** @throws EvidenceFault with the first reason to refuse the part */
  async judge({ number, files }: BundlePart, progress: PartProgress = () => undefined): Promise<JudgedPart> {
    const paths = partPaths(number);
    let bytes = 0;
    let read: readonly Read[] = [];
    let digests: readonly string[] = [];
    let judged: JudgedPart | null = null;
    for (const listed of files) {
      const { path, receipts } = listed.file;
      const contents = await readListed(this.#source, listed, this.#digest);
      bytes += contents.length;
      if (path.startsWith('receipts/')) {
        if (path !== paths.receipts)
          throw new EvidenceFault('file_order', `${path} is not the next part.`, path);
        read = this.#read(path, contents);
        if (read.length !== receipts)
          throw new EvidenceFault(
            'receipt_count',
            `${path} has ${read.length} receipts, not ${receipts}.`,
            path,
          );
        digests = read.map(({ document }) => meteringDigest(document)).filter((line) => line !== null);
        await progress({ bytes, receipts: 0 });
      } else if (path.startsWith('anchors/')) {
        if (path !== paths.anchors || judged !== null)
          throw unmatched(path, 'it does not belong to any part');
        const done = (count: number): unknown => progress({ bytes, receipts: count });
        judged = await this.#judge(path, contents, { read, metering: digests.length, done });
      } else {
        const expected = digests.map((line) => `${line}\n`).join('');
        if (path !== paths.metering || new TextDecoder().decode(contents) !== expected) {
          const message = `${path} does not match the metering receipts of its part.`;
          throw new EvidenceFault('metering_mismatch', message, path);
        }
        digests = [];
      }
    }
    if (judged === null)
      throw new EvidenceFault('anchor_unmatched', `${paths.anchors} is missing.`, paths.anchors);
    if (digests.length > 0)
      throw new EvidenceFault('metering_mismatch', `${paths.metering} is missing.`, paths.metering);
    return judged;
  }

  #read(path: string, bytes: Uint8Array): Read[] {
    const read: Read[] = [];
    let last: ReceiptPlace = { at: -1, id: '' };
    const bills = new Set<string>();
    for (const line of linesOf(bytes)) {
      const document = readObject(line, path, 'receipt_invalid');
      const family = familyOf(document);
      if (family === null || family.shape(document, '') !== null)
        throw new EvidenceFault(
          'receipt_invalid',
          `${path} contains a document that is not a receipt.`,
          path,
        );
      const { receiptId: id, issuedAt } = family.claims(document);
      read.push({ id, issuedAt, document });
      if (family.name === 'metering') {
        if (bills.has(id)) throw twice(id, path);
        bills.add(id);
        continue;
      }
      const { from, to } = this.#terms.period;
      if (issuedAt < secondsOf(from) || issuedAt >= secondsOf(to))
        throw atFault('receipt_period', id, path, 'was issued outside the period');
      const place = { at: issuedAt, id };
      if (!follows(place, last)) throw twice(id, path);
      last = place;
    }
    return read;
  }

  /** Judges the receipts of a part by its file of anchors, which has one line for each of them, in the same order. */
  async #judge(
    path: string,
    bytes: Uint8Array,
    of: {
      readonly read: readonly Read[];
      readonly metering: number;
      readonly done: (count: number) => unknown;
    },
  ): Promise<JudgedPart> {
    const { read, metering, done } = of;
    const counts = { anchored: 0, untrusted: 0, unlogged: 0, unwitnessed: 0 };
    const given: GivenReceipt[] = [];
    const corrections = new CorrectionsCheck();
    let witnessed: Witnessed | null = null;
    let count = 0;
    for (const lines of groupsOf(linesOf(bytes), GROUP)) {
      const first = count;
      // All of a group are awaited, so that the first fault in the file is reported, not the first one found.
      const settled = await Promise.allSettled(
        lines.map((line, index) =>
          this.#judgeOne(line, { read: read[first + index], number: first + index + 1, path }),
        ),
      );
      for (const one of settled) {
        if (one.status === 'rejected') throw one.reason;
        const { document, isAnchored, verdict } = one.value;
        given.push(one.value.given);
        if (isAnchored) counts.anchored += 1;
        if (isAnchored && !isLogged(verdict)) counts.unlogged += 1;
        if (!verdict.issuer.trusted) counts.untrusted += 1;
        if (isAnchored && verdict.witnessed !== null) {
          if (!verdict.witnessed.satisfied) counts.unwitnessed += 1;
          witnessed = bothWitnessed(witnessed, verdict.witnessed);
        }
        corrections.take(document, one.value.given.sha256, verdict);
      }
      count += lines.length;
      await done(count);
    }
    if (count !== read.length) throw unmatched(path, `it has ${count} lines, not ${read.length}`);
    const ordered = read.filter((_, index) => given[index]?.issuedAt !== null);
    const [start, end] = [ordered[0], ordered.at(-1)];
    return {
      ...counts,
      receipts: count,
      metering,
      witnessed,
      span: start && end ? { first: placeOf(start), last: placeOf(end) } : null,
      bills: read.filter((_, index) => given[index]?.issuedAt === null).map(({ id }) => id),
      given,
      corrections: corrections.taken,
    };
  }

  /** Verifies a receipt with the anchor in a line. */
  async #judgeOne(
    line: Uint8Array,
    {
      read,
      number,
      path,
    }: { readonly read: Read | undefined; readonly number: number; readonly path: string },
  ): Promise<Judged> {
    const { trust, now, sha256 } = this.#terms;
    const { receipt_id, receipt_sha256, anchor = null } = readObject(line, path, 'anchor_unmatched');
    if (read === undefined || read.id !== receipt_id)
      throw unmatched(path, `line ${number} belongs to another receipt`);
    const { id, issuedAt, document } = read;
    const family = familyOf(document);
    if (family === null) throw new RangeError('The receipt was checked to be of a family.');
    const hash = this.#digest(canonicalBytes(family.anchored(document)));
    if (receipt_sha256 !== hash) throw unmatched(path, `line ${number} has another hash`);
    const verdict = await verifyParsed(document, {
      trust,
      now,
      engine: this.#engine,
      anchor,
      witnessPolicy: this.#policy,
      sha256,
    });
    const given = { sha256: hash, issuedAt: family.name === 'metering' ? null : issuedAt };
    if (verdict.valid) return { document, given, isAnchored: anchor !== null, verdict };
    const { name, detail } = verdict.checks.find(({ ok }) => ok === false) ?? { name: '', detail: '' };
    throw new EvidenceFault('receipt_invalid', `${id}: ${name}: ${detail}`, path);
  }
}

const placeOf = ({ id, issuedAt }: Read): ReceiptPlace => ({ at: issuedAt, id });

/** Whether a receipt comes after another one in the order of a bundle. */
export function follows({ at, id }: ReceiptPlace, before: ReceiptPlace): boolean {
  return at > before.at || (at === before.at && id > before.id);
}

/** The refusal of a receipt that is there already, or comes before the one before it. */
export function twice(id: string, path: string, what = 'appears twice, or out of order'): EvidenceFault {
  return atFault('receipt_twice', id, path, what);
}

function atFault(reason: EvidenceReason, id: string, path: string, what: string): EvidenceFault {
  return new EvidenceFault(reason, `${id} in ${path} ${what}.`, path);
}

/** The verdict on two anchors together: `by` names the witnesses of both. */
export function bothWitnessed(before: Witnessed | null, one: Witnessed): Witnessed {
  if (before === null) return one;
  return {
    ...before,
    satisfied: before.satisfied && one.satisfied,
    by: before.by.filter((name) => one.by.includes(name)),
  };
}

/** Whether a log that is trusted signed a root over the receipt. */
function isLogged({ checks }: Verification): boolean {
  return ['anchor', 'anchor_checkpoint'].every((wanted) =>
    checks.some(({ name, ok }) => ok && name === wanted),
  );
}

/** The policy, which judges a checkpoint once for all the receipts in a row that it covers. The anchors must not change. */
function remembering(policy: WitnessPolicy): WitnessPolicy {
  let last: { readonly asked: string; readonly found: ReturnType<WitnessPolicy['assess']> } | undefined;
  return {
    ...policy,
    assess(anchor, ...rest) {
      const asked = JSON.stringify([anchor.checkpoint, anchor.checks.map(({ ok }) => ok)]);
      if (last?.asked !== asked) last = { asked, found: policy.assess(anchor, ...rest) };
      return last.found;
    },
  };
}

function unmatched(path: string, what: string): EvidenceFault {
  return new EvidenceFault('anchor_unmatched', `${path}: ${what}.`, path);
}
