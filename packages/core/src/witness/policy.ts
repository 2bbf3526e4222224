import { type Ed25519Engine, publicKeyFault } from '../ed25519/profile.ts';
import { fromBase64 } from '../encoding/base64.ts';
import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';
import type { AnchorVerdict } from '../log/anchor-checks.ts';
import type { LogKey } from '../log/checkpoint.ts';
import { COSIGNATURE, cosignatureType, ML_DSA_COSIGNATURE } from '../log/cosignature.ts';
import { ED25519, nameSyntax, noteKeyHash } from '../log/note.ts';
import type { VerifierKey } from '../log/verifier-key.ts';
import type { Check } from '../receipts/family.ts';
import type { AnchorAuthority } from '../trust/authority.ts';
import { PolicyFault, type PolicyReason } from './fault.ts';
import { assessWitnesses, judgeCheckpoint, type Witnessed, type WitnessFinding } from './judge.ts';
import type { PolicyGroup, PolicyWitness } from './rules.ts';

/** A parsed policy (C2SP tlog-policy): which logs count, and which witnesses must have cosigned. */
export interface WitnessPolicy {
  /** The logs that count; where there is none, those that the verifier knows otherwise. */
  readonly logs: readonly VerifierKey[];
  readonly witnesses: readonly PolicyWitness[];
  /** In the order of the text: each names only what stands before it. */
  readonly groups: readonly PolicyGroup[];
  /** Name of the witness or group that must have witnessed a checkpoint; null for `quorum none`. */
  readonly quorum: string | null;
  /** Remarks on keys of types that are not known here, and so never count. */
  readonly findings: readonly string[];
  /** Judges a checkpoint by this policy, as `judgeCheckpoint`. */
  judge(note: string | undefined, known: readonly LogKey[], engine: Ed25519Engine): Promise<WitnessFinding>;
  /** Judges the checkpoint of an anchor, with the logs of the trust for those of the policy if it names none. */
  assess(
    anchor: AnchorVerdict,
    anchors: readonly AnchorAuthority[],
    engine: Ed25519Engine,
  ): Promise<{ readonly witnessed: Witnessed; readonly checks: readonly Check[] }>;
}

/** Longest policy in bytes: room for 64 logs and witnesses with keys of 2 kB. */
const MAX_BYTES = 262_144;

const NONE = 'none';

/** Least and greatest number of items after each keyword. */
const counts: Readonly<Record<string, readonly [number, number]>> = {
  log: [1, 2],
  witness: [2, 3],
  group: [3, Number.POSITIVE_INFINITY],
  quorum: [1, 1],
};

/**
 * Parses a witness policy. Names are opaque: no two different names are ever equal, whatever their encoding.
 * @param text bytes of the file, or its text
 * @throws PolicyFault (witness_policy_invalid) with a reason and the number of the line
 */
export function parseWitnessPolicy(text: Uint8Array | string): WitnessPolicy {
  const source = decode(typeof text === 'string' ? utf8(text) : text);
  const reader = new PolicyReader();
  for (const [index, line] of source.split('\n').entries()) {
    const items = line.split(/[ \t]+/).filter((item) => item !== '');
    if (items.length > 0 && !items[0]?.startsWith('#')) reader.read(items, index + 1);
  }
  return reader.finish();
}

/** The text of the bytes: UTF-8, or for any other encoding one character for each byte. */
function decode(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) {
    throw new PolicyFault('too_long', `A witness policy has at most ${MAX_BYTES} bytes here.`);
  }
  const at = bytes.findIndex((byte) => (byte < 0x20 && byte !== 0x09 && byte !== 0x0a) || byte === 0x7f);
  if (at >= 0) {
    const line = bytes.subarray(0, at).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
    const found = `0x${toHex(bytes.subarray(at, at + 1))}`;
    throw new PolicyFault(
      'control_character',
      `The only control characters are tab and newline, not ${found}.`,
      line,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  }
}

/** Collects the lines of a policy. */
class PolicyReader {
  readonly #logs: VerifierKey[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #groups: PolicyGroup[] = [];
  readonly #findings: string[] = [];
  /** Names of witnesses and groups, which share one space. */
  readonly #names = new Set<string>();
  /** Names that are members of a group. */
  readonly #members = new Set<string>();
  /** Public keys, by their role, without their names: the same key twice would count twice. */
  readonly #keys = new Set<string>();
  #quorum: string | undefined;

  read([keyword = '', ...items]: readonly string[], line: number): void {
    const refuse = (reason: PolicyReason, message: string): PolicyFault =>
      new PolicyFault(reason, message, line);
    const count = Object.hasOwn(counts, keyword) ? counts[keyword] : undefined;
    if (count === undefined)
      throw refuse('unknown_keyword', `“${keyword}” is not log, witness, group or quorum.`);
    const [least, most] = count;
    if (items.length < least || items.length > most) {
      throw refuse('field_count', `“${keyword}” takes ${range(least, most)} items, not ${items.length}.`);
    }
    const [first = '', second = '', ...rest] = items;
    if (keyword === 'log') this.#addLog(first, line, refuse);
    else if (keyword === 'witness') this.#addWitness(first, second, line, refuse);
    else if (keyword === 'group') this.#addGroup(first, second, rest, refuse);
    else this.#setQuorum(first, refuse);
  }

  /** @throws PolicyFault quorum_missing */
  finish(): WitnessPolicy {
    if (this.#quorum === undefined) {
      throw new PolicyFault(
        'quorum_missing',
        'A witness policy has a line “quorum <name>”, or “quorum none”.',
      );
    }
    const rules = {
      logs: this.#logs,
      witnesses: this.#witnesses,
      groups: this.#groups,
      quorum: this.#quorum === NONE ? null : this.#quorum,
    };
    return {
      ...rules,
      findings: this.#findings,
      judge: (note, known, engine) => judgeCheckpoint(rules, note, known, engine),
      assess: (anchor, anchors, engine) => assessWitnesses(rules, anchor, anchors, engine),
    };
  }

  #addLog(vkey: string, line: number, refuse: Refuse): void {
    const read = this.#readKey('log', vkey, refuse);
    const { name, type, publicKey } = read;
    if (type === COSIGNATURE) throw refuse('key_type', `The key of ${name} is a witness's, not a log's.`);
    const key = knownKey(read, ED25519, refuse);
    // A log that cannot be checked is kept without its name: no checkpoint is of it, and no other log counts in its place.
    this.#logs.push(key ?? { name: '', publicKey });
    if (key === null) this.#findings.push(unknownType(line, `the log ${name}`, type));
  }

  #addWitness(name: string, vkey: string, line: number, refuse: Refuse): void {
    this.#define(name, refuse);
    const read = this.#readKey('witness', vkey, refuse);
    if (read.type === ED25519) {
      throw refuse(
        'key_type',
        `The key of ${name} is of type 0x01, which signs notes; a witness's is of type 0x04 or 0x06.`,
      );
    }
    const key =
      read.type === ML_DSA_COSIGNATURE ? mlDsaKey(read, refuse) : knownKey(read, COSIGNATURE, refuse);
    const { keyHash } = read;
    this.#witnesses.push({ name, key: key && { ...key, keyHash } });
    if (key === null) this.#findings.push(unknownType(line, `the witness ${name}`, read.type));
  }

  #addGroup(name: string, threshold: string, members: readonly string[], refuse: Refuse): void {
    for (const member of members) {
      if (!this.#names.has(member)) {
        throw refuse('unknown_name', `No line before this one defines “${member}”.`);
      }
      if (this.#members.has(member)) {
        throw refuse('member_twice', `“${member}” is a member of a group already.`);
      }
      this.#members.add(member);
    }
    this.#define(name, refuse);
    this.#groups.push({ name, threshold: thresholdIn(threshold, members.length, refuse), members });
  }

  #setQuorum(name: string, refuse: Refuse): void {
    if (this.#quorum !== undefined) throw refuse('quorum_twice', 'There is more than one quorum line.');
    if (name !== NONE && !this.#names.has(name)) {
      throw refuse('unknown_name', `No line before this one defines “${name}”.`);
    }
    this.#quorum = name;
  }

  #define(name: string, refuse: Refuse): void {
    if (name === NONE) throw refuse('reserved_name', '“none” can’t be the name of a witness or group.');
    if (this.#names.has(name)) throw refuse('duplicate_name', `“${name}” is defined twice.`);
    this.#names.add(name);
  }

  #readKey(role: 'log' | 'witness', vkey: string, refuse: Refuse): TypedKey {
    const key = readKey(vkey);
    if (key === null) {
      throw refuse('key_malformed', `“${vkey}” is not a key as <name>+<8 hex>+<base64> whose id matches.`);
    }
    const identity = `${role} ${key.type} ${toHex(key.publicKey)}`;
    if (this.#keys.has(identity))
      throw refuse('duplicate_key', `Two lines have the public key of ${key.name}.`);
    this.#keys.add(identity);
    return key;
  }
}

type Refuse = (reason: PolicyReason, message: string) => PolicyFault;

interface TypedKey extends VerifierKey {
  /** Signature type (C2SP signed-note). */
  readonly type: number;
  readonly keyHash: number;
}

/** Reads a key of any type (C2SP signed-note, "Verifier keys"); null if it is malformed, or its id does not match. */
function readKey(vkey: string): TypedKey | null {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/i.exec(vkey) ?? [];
  const bytes = fromBase64(encoded);
  const [type] = bytes ?? [];
  if (bytes === null || type === undefined || !nameSyntax.test(name)) return null;
  const publicKey = bytes.slice(1);
  const keyHash = noteKeyHash(name, type, publicKey);
  return keyHash === Number.parseInt(id, 16) ? { name, type, publicKey, keyHash } : null;
}

/** The key if it is of the type, or null for a key of an unknown type. @throws PolicyFault for one that can't be used */
function knownKey({ name, type, publicKey }: TypedKey, expected: number, refuse: Refuse): VerifierKey | null {
  if (type !== expected) return null;
  const fault = publicKey.length === 32 ? publicKeyFault(publicKey) : 'is not 32 bytes';
  if (fault === undefined) return { name, publicKey };
  throw refuse('key_malformed', `The public key of ${name} ${fault}.`);
}

/** The key of a witness that cosigns by ML-DSA-44. @throws PolicyFault for one of another length */
function mlDsaKey({ name, publicKey }: TypedKey, refuse: Refuse): VerifierKey {
  if (cosignatureType(publicKey) === ML_DSA_COSIGNATURE) return { name, publicKey };
  throw refuse('key_malformed', `The public key of ${name} is not 1312 bytes.`);
}

function unknownType(line: number, whose: string, type: number): string {
  const hex = `0x${type.toString(16).padStart(2, '0')}`;
  return `Line ${line}: the key of ${whose} is of type ${hex}, which is not known here, so it never counts.`;
}

function thresholdIn(text: string, members: number, refuse: Refuse): number {
  if (text === 'any') return 1;
  if (text === 'all') return members;
  const threshold = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (threshold >= 1 && threshold <= members) return threshold;
  throw refuse('threshold', `“${text}” is not any, all, or a number from 1 to ${members}.`);
}

function range(least: number, most: number): string {
  if (least === most) return `${least}`;
  return most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} or ${most}`;
}
