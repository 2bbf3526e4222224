import { publicKeyOfDidKey } from '../did/key.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { envelope } from '../receipts/envelope.ts';
import type { Check } from '../receipts/family.ts';
import { isObject } from '../receipts/shape.ts';
import { formatTimestamp } from '../time.ts';
import { readReceipt, type Verification, type VerifyOptions, verifyParsed } from '../verify.ts';
import { rootOf, type SessionCall, type SessionOpening } from './session-call.ts';
import { callOf } from './session-receipt.ts';

/** Faults of a session (spec/sessions.md). */
export type SessionFaultName =
  | 'gap'
  | 'fork'
  | 'duplicate'
  | 'reordered'
  | 'edited'
  | 'foreign_key'
  | 'count_mismatch'
  | 'torn';

export interface SessionFault {
  readonly name: SessionFaultName;
  /** Line of the file, from 1; null where no line has it. */
  readonly line: number | null;
  readonly seq: number | null;
  readonly detail: string;
}

/** What became of the receipt that a reference names. */
export type ReferenceState = 'valid' | 'not_given' | 'contradicts';

/** One receipt of a session, in the order of the file. */
export interface SessionEntry {
  readonly line: number;
  readonly seq: number;
  readonly receipt_id: string;
  readonly issued_at: string;
  readonly call: SessionCall;
  readonly request_hash: string | null;
  readonly response_hash: string | null;
  /** `sha256:<hex>`, its anchored hash. */
  readonly sha256: string;
  readonly anchored: boolean;
  /** Only of a reference. */
  readonly reference?: ReferenceState;
}

export interface SessionVerification {
  /** Whether no fault was found, and no receipt that was given contradicts a reference. */
  readonly valid: boolean;
  /** Whether every receipt is intact, in its place, and of one key. */
  readonly integrity: boolean;
  /** Whether the verifier trusts the key: it is pinned, or of a trusted issuer. */
  readonly trusted: boolean;
  /** An open session may have lost its newest receipts without a trace. */
  readonly state: 'open' | 'closed' | 'none';
  readonly id: string | null;
  readonly continues: NonNullable<SessionOpening['continues']> | null;
  readonly parent: NonNullable<SessionOpening['parent']> | null;
  /** Who signed: the service, or whoever held the key. */
  readonly recorder: {
    readonly key_id: string;
    readonly public_key: string;
    readonly issuer_did: string | null;
    readonly by: 'own_key' | 'service';
  } | null;
  readonly count: number;
  /** Anchored hash of the newest receipt. */
  readonly head: string | null;
  /**
   * The newest place that an anchor covers whose checkpoint a trusted log signed; null if none does. Nothing up to there can be
   * changed without contradicting it.
   */
  readonly anchored_up_to: number | null;
  /** No policy of witnesses is given yet. */
  readonly witnessed: null;
  readonly references: Readonly<Record<ReferenceState, number>>;
  readonly faults: readonly SessionFault[];
  /** What the verdict does not cover, in sentences. */
  readonly notes: readonly string[];
  readonly entries: readonly SessionEntry[];
  readonly verified_at: string;
}

export interface VerifySessionOptions extends Pick<VerifyOptions, 'now' | 'trust' | 'engine'> {
  /** The key that the session must have: a did:key, or 32 bytes in base64url. */
  readonly key?: string | undefined;
  /** Receipts that the session refers to, whole. */
  readonly referenced?: Iterable<JsonValue> | undefined;
  /** Called after each line with the number of lines read so far, and of all; the next line waits for what it returns. */
  readonly progress?: ((done: number, of: number) => void | Promise<void>) | undefined;
}

/** The members of an envelope about its signer and time. */
interface Signed {
  readonly issuer_pubkey: string;
  readonly issued_at: string;
  readonly issuer_did?: string;
}

/** A line as it was read. */
interface Line {
  readonly number: number;
  /** An envelope whose form was checked. */
  readonly receipt: JsonObject & Signed;
  readonly verdict: Verification;
  readonly call: SessionCall;
  readonly seq: number;
  readonly hash: string;
}

/**
 * Verifies the receipts of one session: each of them, their order, and their one key (spec/sessions.md). Never throws for
 * what the file holds.
 * @param file JSON Lines: a receipt a line
 * @throws invalid_did, invalid_multibase, invalid_public_key, invalid_base64url for an option `key` that is none; what
 * `progress` throws
 */
export async function verifySession(
  file: Uint8Array | string,
  options: VerifySessionOptions,
): Promise<SessionVerification> {
  const reading = new Reading(options);
  const texts = linesOf(file);
  for (const [index, { text, isWhole }] of texts.entries()) {
    await reading.take(index + 1, text, isWhole);
    await options.progress?.(index + 1, texts.length);
  }
  return reading.verdict();
}

/** The lines of a file that are not empty. The last may have been cut before its end. */
function linesOf(file: Uint8Array | string): { readonly text: string; readonly isWhole: boolean }[] {
  const text = typeof file === 'string' ? file : new TextDecoder().decode(file);
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return [
    ...lines.map((line) => ({ text: line, isWhole: true })),
    ...(last === '' ? [] : [{ text: last, isWhole: false }]),
  ];
}

class Reading {
  readonly #options: VerifySessionOptions;
  readonly #lines: Line[] = [];
  readonly #faults: SessionFault[] = [];
  readonly #notes: string[] = [];
  /** The first line of each place. */
  readonly #places = new Map<number, Line>();
  readonly #referenced: Map<string, JsonObject>;

  constructor(options: VerifySessionOptions) {
    this.#options = options;
    this.#referenced = byId(options.referenced ?? []);
  }

  async take(number: number, text: string, isWhole: boolean): Promise<void> {
    const document = orNull(() => parseJson(utf8(text)));
    if (document === null && !isWhole) {
      this.#notes.push(`Line ${number} was cut before its end, and is left out.`);
      return;
    }
    if (document === null) return this.#fault('torn', number, null, `Line ${number} is not JSON.`);
    const { now, trust, engine } = this.#options;
    const verdict = await verifyParsed(document, { now, trust, engine });
    const call = isObject(document) ? callOf(document) : null;
    const broken = verdict.checks.find(({ ok }) => ok === false);
    if (!isObject(document) || verdict.family !== envelope.name || !verdict.integrity || call === null) {
      const why = verdict.integrity ? 'It is no receipt of a session.' : (broken?.detail ?? '');
      return this.#fault('edited', number, call === null ? null : Number(call.session.seq), why);
    }
    const line: Line = {
      number,
      receipt: document as JsonObject & Signed,
      verdict,
      call,
      seq: Number(call.session.seq),
      hash: anchoredHashOf(document),
    };
    this.#lines.push(line);
  }

  async verdict(): Promise<SessionVerification> {
    const id = this.#sessionId();
    const own = this.#lines.filter((line) => this.#belongs(line, id));
    const key = this.#keyOf(own);
    const ordered = own.filter((line) => this.#isOfKey(line, key));
    this.#checkOrder(ordered);
    const opening = ordered.find(({ seq, call }) => seq === 0 && isOpening(call));
    const closing = this.#checkClosing(ordered);
    const newest = ordered.at(-1);
    const states = ordered.map((line) => this.#referenceOf(line));
    const references = { valid: 0, not_given: 0, contradicts: 0 };
    for (const state of states) if (state !== null) references[state] += 1;
    const integrity = this.#faults.length === 0 && ordered.length > 0;
    const first = ordered[0];
    const anchored = ordered.filter(({ verdict }) => isAnchored(verdict.checks)).map(({ seq }) => seq);
    const unsigned =
      ordered.filter(({ verdict }) => holds(verdict.checks, 'anchor')).length - anchored.length;
    if (unsigned > 0) {
      this.#notes.push(
        `${unsigned} of the anchors do not count: no log that the given trust lists signed them.`,
      );
    }
    if (closing === null && newest !== undefined) {
      this.#notes.push(
        `The session is open: nobody can see whether receipts after number ${newest.seq} were cut off.`,
      );
    }
    const begins = opening?.call as SessionOpening | undefined;
    const valid = integrity && references.contradicts === 0 && ordered.every(({ verdict }) => verdict.valid);
    return {
      valid,
      integrity,
      trusted: valid && this.#isTrusted(ordered),
      state: first === undefined ? 'none' : closing === null ? 'open' : 'closed',
      id,
      continues: begins?.continues ?? null,
      parent: begins?.parent ?? null,
      recorder: first === undefined ? null : recorderOf(first),
      count: ordered.length,
      head: newest?.hash ?? null,
      anchored_up_to: anchored.reduce<number | null>((most, seq) => Math.max(most ?? seq, seq), null),
      witnessed: null,
      references,
      faults: this.#faults.toSorted((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity)),
      notes: this.#notes,
      entries: ordered.map((line, index) => entryOf(line, states[index] ?? null)),
      verified_at: formatTimestamp(this.#options.now),
    };
  }

  #fault(name: SessionFaultName, line: number | null, seq: number | null, detail: string): void {
    this.#faults.push({ name, line, seq, detail });
  }

  /** The session that most lines are of, so that one that does not belong is the one that is named. */
  #sessionId(): string | null {
    return mostFrequent(this.#lines.map(({ call }) => call.session.id));
  }

  #belongs({ number, seq, call }: Line, id: string | null): boolean {
    if (call.session.id === id) return true;
    this.#fault('edited', number, seq, `Line ${number} is a receipt of the session ${call.session.id}.`);
    return false;
  }

  /** The key of the opening, or, if there is none, of most lines. */
  #keyOf(lines: readonly Line[]): string | null {
    const pinned = this.#options.key === undefined ? null : publicKeyText(this.#options.key);
    return pinned ?? mostFrequent(lines.map(({ receipt }) => receipt.issuer_pubkey));
  }

  #isOfKey({ number, seq, receipt }: Line, expected: string | null): boolean {
    if (receipt.issuer_pubkey === expected) return true;
    this.#fault('foreign_key', number, seq, `Another key than the session's signed line ${number}.`);
    return false;
  }

  #checkOrder(lines: readonly Line[]): void {
    const known = this.#faults.map(({ seq }) => seq).filter((seq) => seq !== null);
    let highest = -1;
    for (const line of lines) {
      const { seq, number, hash } = line;
      const earlier = this.#places.get(seq);
      if (earlier === undefined) this.#places.set(seq, line);
      if (earlier?.hash === hash) {
        this.#fault('duplicate', number, seq, `Line ${number} is line ${earlier.number} again.`);
      } else if (earlier !== undefined) {
        this.#fault(
          'fork',
          number,
          seq,
          `Lines ${earlier.number} and ${number} are two receipts of number ${seq}.`,
        );
      } else if (seq < highest) {
        this.#fault(
          'reordered',
          number,
          seq,
          `Line ${number} is number ${seq}, and comes after number ${highest}.`,
        );
      }
      highest = Math.max(highest, seq);
    }
    const numbered = [...this.#places.keys(), ...known.filter((seq) => seq < highest)];
    this.#checkGaps([...new Set(numbered)].toSorted((a, b) => a - b));
    for (const { seq, call, number } of this.#places.values()) this.#checkLink(seq, call, number);
  }

  /** A run of missing numbers is one fault: a receipt may claim to be the 10^15th. @param present in ascending order */
  #checkGaps(present: readonly number[]): void {
    let following = 0;
    for (const seq of present) {
      const last = seq - 1;
      const missing =
        last === following
          ? `Number ${following} is missing.`
          : `Numbers ${following} to ${last} are missing.`;
      if (last >= following) this.#fault('gap', null, following, missing);
      following = seq + 1;
    }
  }

  #checkLink(seq: number, call: SessionCall, number: number): void {
    const before = this.#places.get(seq - 1);
    const expected = seq === 0 ? rootOf(call.session.id) : before?.hash;
    if (seq === 0 && !isOpening(call)) {
      this.#fault('gap', number, seq, `Line ${number} is number 0, and does not open the session.`);
    }
    if (seq > 0 && isOpening(call)) {
      this.#fault('fork', number, seq, `Line ${number} opens the session again.`);
    }
    if (expected === undefined || expected === call.session.prev) return;
    this.#fault(
      'fork',
      number,
      seq,
      `Line ${number} follows another receipt than the one given as number ${seq - 1}.`,
    );
  }

  /** The receipt that closes the session; null if there is none. */
  #checkClosing(lines: readonly Line[]): Line | null {
    const closing = lines.find(({ call }) => call.kind === 'session' && call.event === 'close');
    if (closing === undefined) return null;
    const { call, seq, number } = closing;
    if (call.kind !== 'session' || call.event !== 'close') return null;
    if (call.count !== String(seq + 1) || call.head !== call.session.prev) {
      this.#fault(
        'count_mismatch',
        number,
        seq,
        `Line ${number} closes ${call.count} receipts as number ${seq}.`,
      );
    }
    const after = lines.find((line) => line.seq > seq);
    if (after !== undefined) {
      this.#fault(
        'count_mismatch',
        after.number,
        after.seq,
        `Line ${after.number} comes after the session was closed.`,
      );
    }
    return closing;
  }

  #referenceOf({ call }: Line): ReferenceState | null {
    if (call.kind !== 'reference') return null;
    const found = this.#referenced.get(call.receipt_id);
    if (found === undefined) return 'not_given';
    return anchoredHashOf(found) === call.receipt_sha256 ? 'valid' : 'contradicts';
  }

  #isTrusted(lines: readonly Line[]): boolean {
    if (this.#options.key !== undefined) return true;
    return lines.every(({ verdict }) => verdict.issuer.trusted);
  }
}

function isOpening(call: SessionCall): boolean {
  return call.kind === 'session' && call.event === 'open';
}

/** Whether a log that is trusted signed the root. The path alone leads to any root that somebody makes up. */
function isAnchored(checks: readonly Check[]): boolean {
  return holds(checks, 'anchor') && holds(checks, 'anchor_checkpoint');
}

function holds(checks: readonly Check[], check: string): boolean {
  return checks.some(({ name, ok }) => name === check && ok === true);
}

function entryOf(
  { number, seq, receipt, call, hash, verdict }: Line,
  reference: ReferenceState | null,
): SessionEntry {
  const hashIn = (part: JsonValue | undefined): string | null =>
    isObject(part) && typeof part['hash'] === 'string' ? part['hash'] : null;
  return {
    line: number,
    seq,
    receipt_id: verdict.receipt_id ?? '',
    issued_at: receipt.issued_at,
    call,
    request_hash: hashIn(receipt['request']),
    response_hash: hashIn(receipt['response']),
    sha256: hash,
    anchored: isAnchored(verdict.checks),
    ...(reference !== null && { reference }),
  };
}

function recorderOf({ receipt, verdict }: Line): SessionVerification['recorder'] {
  const { issuer_pubkey, issuer_did = null } = receipt;
  return {
    key_id: verdict.issuer.key_id ?? '',
    public_key: issuer_pubkey,
    issuer_did,
    by: issuer_did === null ? 'own_key' : 'service',
  };
}

/** @param receipt of valid form */
function anchoredHashOf(receipt: JsonObject): string {
  const { family, receipt: read } = readReceipt(receipt);
  return `sha256:${sha256Hex(canonicalBytes(family.anchored(read)))}`;
}

function byId(receipts: Iterable<JsonValue>): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const document of receipts) {
    const read = orNull(() =>
      readReceipt(typeof document === 'string' ? parseJson(utf8(document)) : document),
    );
    if (read !== null) found.set(read.family.claims(read.receipt).receiptId, read.receipt);
  }
  return found;
}

/** The key in base64url. @throws invalid_did, invalid_multibase, invalid_public_key, invalid_base64url for what is none */
function publicKeyText(key: string): string {
  return toBase64url(key.startsWith('did:key:') ? publicKeyOfDidKey(key) : fromBase64url(key, 32));
}

function mostFrequent(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}
