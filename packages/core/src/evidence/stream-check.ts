import { TallyError } from '../errors.ts';
import type { Sha256 } from '../hash.ts';
import { ChainWalk } from '../streams/chain-walk.ts';
import { readStreamHead, type StreamHead } from '../streams/head.ts';
import { type GivenReceipt, judgeStream, type StreamVerdict } from '../streams/verify-stream.ts';
import { secondsOf } from '../time.ts';
import type { DocumentTrust, EvidenceManifest } from './document.ts';
import { excusesOf, withinPurges } from './excuses.ts';
import { EvidenceFault } from './fault.ts';
import { linesOf, readObject } from './lines.ts';
import { EVIDENCE_PATHS, hashesPath } from './parts.ts';

/** Reads a bundle's heads and hashes, and judges by them whether its receipts are all that the heads count. */
export class StreamCheck {
  readonly #manifest: EvidenceManifest;
  readonly #trust: DocumentTrust;
  readonly #digest: Sha256 | undefined;
  #heads: StreamHead[] = [];
  readonly #hashes: string[] = [];
  #first = 0;
  #part = 0;
  /** The walk along the chain; absent where it can't begin, which `finish` says. */
  #walk: ChainWalk | undefined;

  constructor(manifest: EvidenceManifest, trust: DocumentTrust, digest: Sha256 | undefined) {
    this.#manifest = manifest;
    this.#trust = trust;
    this.#digest = digest;
  }

  /** Reads a file of the stream; ignores any other. @throws EvidenceFault stream_invalid */
  async take(path: string, bytes: Uint8Array): Promise<void> {
    if (path === EVIDENCE_PATHS.heads) await this.#readHeads(bytes);
    else if (path.startsWith('stream/')) this.#walkAlong(this.#readHashes(path, bytes));
  }

  /**
   * What the heads say about the receipts; null for a bundle without heads, which shows nothing about completeness.
   * @throws EvidenceFault stream_invalid
   */
  finish(given: readonly GivenReceipt[]): StreamVerdict | null {
    const [first] = this.#heads;
    const last = this.#heads.at(-1);
    if (first === undefined || last === undefined) return null;
    try {
      const from = this.#begin(first, last);
      const order = { heads: this.#heads, from, hashes: this.#hashes, given, walk: this.#walk };
      const excuse = excusesOf(this.#manifest, order);
      return withinPurges(judgeStream({ ...order, excuse, digest: this.#digest }), this.#manifest, first);
    } catch (error) {
      throw asFault(error, EVIDENCE_PATHS.heads);
    }
  }

  /**
   * Returns how many receipts of the stream come before the first hash: as many as the head from before the period counts, or
   * none. A bundle that could choose the number could leave out receipts that its heads count. One that could choose its first
   * head could excuse receipts of the period, which only an earlier head shows not to be from before it.
   */
  #begin(first: StreamHead, last: StreamHead): number {
    const from = secondsOf(this.#manifest.period.from);
    if (secondsOf(last.at) < from)
      throw fault(EVIDENCE_PATHS.heads, 'the last head is from before the period');
    const isBefore = secondsOf(first.at) <= from;
    if (!isBefore && first.previous_sha256 !== null)
      throw fault(EVIDENCE_PATHS.heads, 'the head before the first one is left out');
    const counted = isBefore ? first.count : 0;
    if (this.#first === 0 || this.#first === counted + 1) return counted;
    if (this.#first === 1) return 0;
    const what = `the hashes begin at ${this.#first}, and no head from before the period counts what was left out`;
    throw fault(hashesPath(1), what);
  }

  async #readHeads(bytes: Uint8Array): Promise<void> {
    const path = EVIDENCE_PATHS.heads;
    for (const line of linesOf(bytes)) {
      try {
        const document = readObject(line, path, 'stream_invalid');
        // The bundle's key signed the heads too, and stands for those of a key that was compromised since.
        this.#heads.push(await readStreamHead(document, { ...this.#trust, anchoredAt: 0 }));
      } catch (error) {
        throw asFault(error, path);
      }
    }
    const { tenant, issuer_did } = this.#manifest;
    const isOwn = ({ stream, issuer_did: issuer }: StreamHead): boolean =>
      stream === `tenant:${tenant}` && issuer === issuer_did;
    if (!this.#heads.every(isOwn)) throw fault(path, 'a head is of another stream');
  }

  /** Reads the next hashes. */
  #readHashes(path: string, bytes: Uint8Array): string[] {
    const hashes: string[] = [];
    this.#part += 1;
    if (path !== hashesPath(this.#part)) throw fault(path, 'it is not the next part');
    for (const line of linesOf(bytes)) {
      const { index, sha256 } = readObject(line, path, 'stream_invalid');
      if (typeof index !== 'number' || typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
        throw fault(path, 'a line is not an index and a hash');
      }
      if (this.#hashes.length === 0 && hashes.length === 0) this.#first = index;
      if (index !== this.#first + this.#hashes.length + hashes.length)
        throw fault(path, `${index} is not the next index`);
      hashes.push(sha256);
    }
    return hashes;
  }

  #walkAlong(hashes: readonly string[]): void {
    const [first, last] = [this.#heads[0], this.#heads.at(-1)];
    if (this.#hashes.length === 0 && first !== undefined && last !== undefined) {
      try {
        this.#walk = new ChainWalk(this.#heads, this.#begin(first, last), this.#digest);
      } catch {
        // `finish` finds the same, and says so in its turn.
      }
    }
    this.#walk?.take(hashes);
    for (const hash of hashes) this.#hashes.push(hash);
  }
}

function fault(path: string, what: string): EvidenceFault {
  return new EvidenceFault('stream_invalid', `${path}: ${what}.`, path);
}

function asFault(error: unknown, path: string): unknown {
  return error instanceof TallyError ? new EvidenceFault('stream_invalid', error.message, path) : error;
}
