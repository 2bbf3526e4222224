import { defaultEngine } from '../ed25519/engines.ts';
import type { Ed25519Engine } from '../ed25519/profile.ts';
import type { Sha256 } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import type { GivenReceipt } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import type { Trust } from '../trust/issuer.ts';
import { familyOf, type Verification, verifyParsed } from '../verify.ts';
import type { Witnessed } from '../witness/judge.ts';
import type { WitnessPolicy } from '../witness/policy.ts';
import { type BundleCorrections, CorrectionsCheck } from './corrections-check.ts';
import type { EvidenceFile, EvidenceManifest } from './document.ts';
import { EvidenceFault, type EvidenceReason } from './fault.ts';
import { groupsOf, linesOf, readObject } from './lines.ts';
import { meteringDigest, partPaths } from './parts.ts';
import { RememberingEngine } from './remembering-engine.ts';

/** Totals of the receipts of a bundle. */
export interface PartCounts extends BundleCorrections {
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
   * The verdict on all anchors together: `by` names the witnesses that cosigned each of their checkpoints. Not satisfied
   * where nothing is anchored; null without a policy.
   */
  readonly witnessed: Witnessed | null;
}

interface ReceiptVerification {
  readonly trust: Trust;
  readonly now: number;
  readonly engine: Ed25519Engine | undefined;
  readonly witnessPolicy: WitnessPolicy | undefined;
  readonly sha256: Sha256 | undefined;
  /** Hex SHA-256. */
  readonly digest: (bytes: Uint8Array) => string;
  /** Called with the number of receipts verified so far, and awaited. */
  readonly report: (receipts: number) => Promise<void>;
}

/** A receipt that was read from its part, and whose anchor is still to be read. */
interface Read {
  readonly id: string;
  readonly issuedAt: number;
  readonly document: JsonObject;
}

/** A receipt that is valid, with its anchored hash in hex. */
interface Judged {
  readonly document: JsonObject;
  readonly sha256: string;
  readonly isAnchored: boolean;
  readonly verdict: Verification;
}

/** Number of receipts that are verified at once, so that the runtime can check signatures on all its cores. */
const GROUP = 64;

/** Checks the receipts of a bundle part by part: a part's receipts, then its anchors, then its metering digests. */
export class ReceiptsCheck {
  readonly #manifest: EvidenceManifest;
  readonly #verification: ReceiptVerification;
  /** Remembers the checkpoint that receipts under one root share, for as long as the signatures of a few groups. */
  readonly #engine: RememberingEngine;
  readonly #policy: WitnessPolicy | undefined;
  #part = 0;
  #read: readonly Read[] = [];
  #digests: readonly string[] = [];
  /** Place of the last receipt that is ordered by its second of issue: each later one must come after it. */
  #last = { at: -1, id: '' };
  /** Ids of the metering receipts. They may be dated long before they were stored, so their order is not checked. */
  readonly #bills = new Set<string>();
  #receipts = 0;
  #verified = 0;
  #anchored = 0;
  #metering = 0;
  #untrusted = 0;
  /** Anchored hashes and times of the receipts, for the check of the stream. */
  readonly given: GivenReceipt[] = [];
  readonly #corrections = new CorrectionsCheck();
  #unlogged = 0;
  #unwitnessed = 0;
  #witnessed: Witnessed | null = null;

  constructor(manifest: EvidenceManifest, verification: ReceiptVerification) {
    this.#manifest = manifest;
    this.#verification = verification;
    this.#engine = new RememberingEngine(verification.engine ?? defaultEngine, 4 * GROUP);
    this.#policy = verification.witnessPolicy && remembering(verification.witnessPolicy);
  }

  /** Checks the next file of the bundle; ignores a file that belongs to no part. @throws EvidenceFault */
  async take(file: EvidenceFile, bytes: Uint8Array): Promise<void> {
    const { path } = file;
    if (path.startsWith('receipts/')) this.#readReceipts(file, bytes);
    else if (path.startsWith('anchors/')) await this.#readAnchors(path, bytes);
    else if (path.startsWith('metering/')) this.#readDigests(path, bytes);
  }

  /** @throws EvidenceFault */
  async finish(): Promise<PartCounts> {
    this.#requireWhole();
    const counts = { receipts: this.#receipts, anchored: this.#anchored, metering: this.#metering };
    for (const [name, found] of Object.entries(counts)) {
      const stated = this.#manifest[name as keyof typeof counts];
      if (found === stated) continue;
      throw new EvidenceFault(
        'receipt_count',
        `The manifest says ${stated} ${name}; the files hold ${found}.`,
      );
    }
    const none = (await this.#policy?.judge(undefined, [], this.#engine))?.witnessed;
    return {
      ...counts,
      untrusted: this.#untrusted,
      unlogged: this.#unlogged,
      unwitnessed: this.#unwitnessed,
      witnessed: this.#witnessed ?? none ?? null,
      ...this.#corrections.finish(),
    };
  }

  /** Checks that the anchors and metering digests of the part so far have come. @throws EvidenceFault */
  #requireWhole(): void {
    const { anchors, metering } = partPaths(this.#part);
    if (this.#read.length > 0) throw new EvidenceFault('anchor_unmatched', `${anchors} is missing.`, anchors);
    if (this.#digests.length > 0) {
      throw new EvidenceFault('metering_mismatch', `${metering} is missing.`, metering);
    }
  }

  #readReceipts({ path, receipts }: EvidenceFile, bytes: Uint8Array): void {
    this.#requireWhole();
    this.#part += 1;
    if (path !== partPaths(this.#part).receipts) {
      throw new EvidenceFault('file_order', `${path} is not the next part.`, path);
    }
    const read: Read[] = [];
    for (const line of linesOf(bytes)) {
      const document = readObject(line, path, 'receipt_invalid');
      read.push({ ...this.#placed(document, path), document });
    }
    if (read.length !== receipts) {
      throw new EvidenceFault('receipt_count', `${path} has ${read.length} receipts, not ${receipts}.`, path);
    }
    this.#read = read;
    this.#digests = read.map(({ document }) => meteringDigest(document)).filter((line) => line !== null);
    this.#receipts += read.length;
    this.#metering += this.#digests.length;
  }

  /** Checks the receipt's form and its place in the bundle, and returns its id and time. @throws EvidenceFault */
  #placed(document: JsonObject, path: string): Pick<Read, 'id' | 'issuedAt'> {
    const family = familyOf(document);
    if (family === null || family.shape(document, '') !== null) {
      throw new EvidenceFault('receipt_invalid', `${path} contains a document that is not a receipt.`, path);
    }
    const { receiptId: id, issuedAt } = family.claims(document);
    const refuse = (reason: EvidenceReason, what: string): EvidenceFault =>
      new EvidenceFault(reason, `${id} in ${path} ${what}.`, path);
    if (family.name === 'metering') {
      if (this.#bills.has(id)) throw refuse('receipt_twice', 'appears twice');
      this.#bills.add(id);
      return { id, issuedAt };
    }
    const { from, to } = this.#manifest.period;
    if (issuedAt < secondsOf(from) || issuedAt >= secondsOf(to)) {
      throw refuse('receipt_period', 'was issued outside the period');
    }
    const { at, id: before } = this.#last;
    if (issuedAt < at || (issuedAt === at && id <= before)) {
      throw refuse('receipt_twice', 'appears twice, or out of order');
    }
    this.#last = { at: issuedAt, id };
    return { id, issuedAt };
  }

  /** Reads a file of anchors, which has one line for each receipt of the part, in the same order. */
  async #readAnchors(path: string, bytes: Uint8Array): Promise<void> {
    if (path !== partPaths(this.#part).anchors) throw unmatched(path, 'it does not belong to any part');
    let count = 0;
    for (const lines of groupsOf(linesOf(bytes), GROUP)) {
      const first = count;
      // All of a group are awaited, so that the first fault in the file is reported, not the first one found.
      const settled = await Promise.allSettled(
        lines.map((line, index) => this.#judge(line, first + index, path)),
      );
      for (const one of settled) {
        if (one.status === 'rejected') throw one.reason;
        this.#verified += 1;
        const { document, sha256, isAnchored, verdict } = one.value;
        if (isAnchored) this.#anchored += 1;
        if (isAnchored && !isLogged(verdict)) this.#unlogged += 1;
        if (!verdict.issuer.trusted) this.#untrusted += 1;
        if (isAnchored && verdict.witnessed !== null) this.#addWitnessed(verdict.witnessed);
        this.#corrections.take(document, sha256, verdict);
      }
      count += lines.length;
      await this.#verification.report(this.#verified);
    }
    if (count !== this.#read.length) {
      throw unmatched(path, `it has ${count} lines, not ${this.#read.length}`);
    }
    this.#read = [];
  }

  #addWitnessed(one: Witnessed): void {
    if (!one.satisfied) this.#unwitnessed += 1;
    const before = this.#witnessed ?? one;
    this.#witnessed = {
      ...before,
      satisfied: before.satisfied && one.satisfied,
      by: before.by.filter((name) => one.by.includes(name)),
    };
  }

  /** Verifies the receipt that a line belongs to, with the anchor in that line. */
  async #judge(line: Uint8Array, index: number, path: string): Promise<Judged> {
    const { trust, now, sha256, digest } = this.#verification;
    const { receipt_id, receipt_sha256, anchor = null } = readObject(line, path, 'anchor_unmatched');
    const read = this.#read[index];
    if (read === undefined || read.id !== receipt_id) {
      throw unmatched(path, `line ${index + 1} belongs to another receipt`);
    }
    const { id, issuedAt, document } = read;
    if (receipt_sha256 !== digest(anchoredBytes(document))) {
      throw unmatched(path, `line ${index + 1} has another hash`);
    }
    const isBill = familyOf(document)?.name === 'metering';
    this.given.push({ sha256: receipt_sha256, issuedAt: isBill ? null : issuedAt });
    const verdict = await verifyParsed(document, {
      trust,
      now,
      engine: this.#engine,
      anchor,
      witnessPolicy: this.#policy,
      sha256,
    });
    if (verdict.valid) return { document, sha256: receipt_sha256, isAnchored: anchor !== null, verdict };
    const { name, detail } = verdict.checks.find(({ ok }) => ok === false) ?? { name: '', detail: '' };
    throw new EvidenceFault('receipt_invalid', `${id}: ${name}: ${detail}`, path);
  }

  #readDigests(path: string, bytes: Uint8Array): void {
    const expected = this.#digests.map((line) => `${line}\n`).join('');
    if (path !== partPaths(this.#part).metering || new TextDecoder().decode(bytes) !== expected) {
      const message = `${path} does not match the metering receipts of its part.`;
      throw new EvidenceFault('metering_mismatch', message, path);
    }
    this.#digests = [];
  }
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

/** Returns the bytes of a receipt that its anchored hash covers; its form must have been checked. */
function anchoredBytes(document: JsonObject): Uint8Array {
  const family = familyOf(document);
  if (family === null) throw new RangeError('The receipt was checked to be of a family.');
  return canonicalBytes(family.anchored(document));
}
