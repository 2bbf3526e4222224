import {
  type AnchorAuthority,
  canonicalBytes,
  commitSalt,
  declaredSigner,
  fromHex,
  type JsonObject,
  type JsonValue,
  openSessionValue,
  ownKeySigner,
  type ReferenceState,
  readSessionReceipt,
  type SaltedPart,
  type SessionFaultName,
  SessionRecorder,
  type Signer,
  saltedHash,
  saltOf,
  type ToolServer,
  toBase64url,
  toHex,
} from '../../packages/core/src/index.ts';
import { anchorOf, authority } from './anchor-base.ts';
import { ISSUED_MS, NOW } from './cases.ts';
import { signers } from './keys.ts';
import { SERVICE_DID, type StoreName } from './stores.ts';

/** A session's file, and what a verifier finds in it (spec/sessions.md). */
export interface SessionCase {
  readonly name: string;
  readonly comment: string;
  /** The text of the file. */
  readonly file: string;
  readonly trust: StoreName;
  /** The log that the trust lists, if it lists one. */
  readonly authority?: AnchorAuthority;
  /** The pinned key, if one is. */
  readonly key?: string;
  /** Receipts that are given beside the file. */
  readonly referenced?: readonly JsonValue[];
  readonly now: string;
  readonly expected: {
    readonly valid: boolean;
    readonly integrity: boolean;
    readonly trusted: boolean;
    readonly state: 'open' | 'closed' | 'none';
    readonly count: number;
    readonly head: string | null;
    readonly anchored_up_to: number | null;
    readonly references: Readonly<Record<ReferenceState, number>>;
    /** In the order of their lines; those of no line come last. */
    readonly faults: readonly { name: SessionFaultName; line: number | null; seq: number | null }[];
  };
}

const SALT = new Uint8Array(32).fill(0x5a);
const SERVER: ToolServer = {
  name: 'files',
  version: '2.1.0',
  transport: 'stdio',
  identity_sha256: `sha256:${'c'.repeat(64)}`,
};

/** A recorder's options whose bytes are the same each time. @param first begins the numbers that stand for random ones */
function optionsOf(signer: Signer, first: number, issuerDid?: string) {
  let drawn = first;
  const random = (length: number): Uint8Array => {
    const bytes = new Uint8Array(length);
    new DataView(bytes.buffer).setUint32(length - 4, ++drawn);
    return bytes;
  };
  const signing = { signer, now: () => ISSUED_MS, random };
  const sign = issuerDid === undefined ? ownKeySigner(signing) : declaredSigner(signing, issuerDid);
  return { sign, salt: SALT, random };
}

const hashOfReceipt = (text: string): string => readSessionReceipt(text).hash;

const call = (path: string, outcome: 'completed' | 'error' | 'denied' = 'completed') => ({
  tool: 'read_file',
  server: SERVER,
  outcome,
  arguments: { json: { path } },
  result:
    outcome === 'denied' ? null : { json: { content: [{ type: 'text', text: `The text of ${path}.` }] } },
});

interface Recorded {
  readonly recorder: SessionRecorder;
  readonly lines: readonly string[];
}

/** A session with three calls: one went well, one failed, one was denied. */
async function recorded(signer: Signer, first: number, issuerDid?: string): Promise<Recorded> {
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(signer, first, issuerDid));
  const lines = [receipt];
  for (const outcome of ['completed', 'error', 'denied'] as const)
    lines.push(await recorder.tool(call(`/notes/${outcome}.txt`, outcome)));
  return { recorder, lines };
}

/** The receipt that another key, or the same one at another time, would sign in the place of a line. */
function instead(signer: Signer, line: string): Promise<string> {
  const { id, seq, prev } = placeIn(line);
  const head = { id, seq: Number(seq) - 1, hash: prev };
  return SessionRecorder.resume(optionsOf(signer, 900), head).tool(call('/etc/passwd'));
}

function placeIn(line: string): { id: string; seq: string; prev: string } {
  const receipt = JSON.parse(line) as { call: { session: { id: string; seq: string; prev: string } } };
  return receipt.call.session;
}

const fileOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const NONE = { valid: 0, not_given: 0, contradicts: 0 };

/** Sessions that are whole, and each fault in one that would be. */
export async function sessionCases(): Promise<SessionCase[]> {
  const own = signers.agent;
  const { recorder, lines: open } = await recorded(own, 0);
  const closed = [...open, await recorder.close()];
  const [l0 = '', l1 = '', l2 = '', l3 = '', l4 = ''] = closed;
  const base = { trust: 'known', key: own.keyId, now: NOW } as const;
  const whole = {
    valid: true,
    integrity: true,
    trusted: true,
    anchored_up_to: null,
    references: NONE,
    faults: [],
  };

  const broken = (
    name: string,
    comment: string,
    lines: readonly string[],
    count: number,
    faults: SessionCase['expected']['faults'],
    state: 'open' | 'closed' = 'closed',
  ): SessionCase => ({
    ...base,
    name,
    comment,
    file: fileOf(lines),
    expected: {
      valid: false,
      integrity: false,
      trusted: false,
      state,
      count,
      head: hashOfReceipt(lines.at(-1) ?? ''),
      anchored_up_to: null,
      references: NONE,
      faults,
    },
  });

  return [
    {
      ...base,
      name: 'closed',
      comment: 'The opening, three calls of a tool, the closing.',
      file: fileOf(closed),
      expected: { ...whole, state: 'closed', count: 5, head: hashOfReceipt(l4) },
    },
    {
      name: 'closed-key-not-pinned',
      comment: 'The same session for a verifier who pins no key: intact, and trusted by nobody.',
      file: fileOf(closed),
      trust: 'known',
      now: NOW,
      expected: { ...whole, trusted: false, state: 'closed', count: 5, head: hashOfReceipt(l4) },
    },
    {
      ...base,
      name: 'open',
      comment: 'Without its closing, nobody can see whether more was cut off.',
      file: fileOf(open),
      expected: { ...whole, state: 'open', count: 4, head: hashOfReceipt(l3) },
    },
    {
      ...base,
      name: 'open-torn-end',
      comment: 'The last line was cut while it was written. It is left out.',
      file: `${fileOf(open)}${l4.slice(0, 100)}`,
      expected: { ...whole, state: 'open', count: 4, head: hashOfReceipt(l3) },
    },
    {
      ...base,
      name: 'anchored',
      comment: 'Line 3 is in a log that the trust lists.',
      file: fileOf([l0, l1, await anchoredLine(l2), l3, l4]),
      authority,
      expected: { ...whole, state: 'closed', count: 5, head: hashOfReceipt(l4), anchored_up_to: 2 },
    },
    {
      ...base,
      name: 'anchored-in-an-unknown-log',
      comment: 'Whoever has the key of the session can make up a log for it. Such an anchor does not count.',
      file: fileOf([l0, l1, await anchoredLine(l2, { origin: 'made-up.example/log', log: own }), l3, l4]),
      authority,
      expected: { ...whole, state: 'closed', count: 5, head: hashOfReceipt(l4) },
    },
    await byService(),
    await byCompromised(),
    ...(await withReference(own)),
    broken('removed', 'Line 3 is missing.', [l0, l1, l3, l4], 4, [{ name: 'gap', line: null, seq: 2 }]),
    broken('opening-removed', 'The opening is missing.', [l1, l2, l3, l4], 4, [
      { name: 'gap', line: null, seq: 0 },
    ]),
    broken('doubled', 'Line 2 comes twice.', [l0, l1, l1, l2, l3, l4], 6, [
      { name: 'duplicate', line: 3, seq: 1 },
    ]),
    broken('reordered', 'Lines 2 and 3 changed places.', [l0, l2, l1, l3, l4], 5, [
      { name: 'reordered', line: 3, seq: 1 },
    ]),
    broken(
      'edited',
      'The outcome in line 4 was changed.',
      [l0, l1, l2, l3.replace('"denied"', '"completed"'), l4],
      4,
      [{ name: 'edited', line: 4, seq: 3 }],
    ),
    broken(
      'foreign-key',
      'Another key signed line 3.',
      [l0, l1, await instead(signers.stranger, l2), l3, l4],
      4,
      [{ name: 'foreign_key', line: 3, seq: 2 }],
    ),
    broken(
      'signed-again',
      'The same key signed another line 3.',
      [l0, l1, await instead(own, l2), l3, l4],
      5,
      [{ name: 'fork', line: 4, seq: 3 }],
    ),
    broken(
      'two-of-one-number',
      'Two receipts have the number 2.',
      [l0, l1, l2, await instead(own, l2), l3, l4],
      6,
      [{ name: 'fork', line: 4, seq: 2 }],
    ),
    broken('torn', 'Line 3 was cut, and the file goes on after it.', [l0, l1, l2.slice(0, 100), l3, l4], 4, [
      { name: 'torn', line: 3, seq: null },
      { name: 'gap', line: null, seq: 2 },
    ]),
    broken(
      'goes-on-after-the-end',
      'A receipt follows the closing.',
      [...closed, await afterClosing(l4)],
      6,
      [{ name: 'count_mismatch', line: 6, seq: 5 }],
    ),
  ];

  async function afterClosing(line: string): Promise<string> {
    const head = { id: placeIn(line).id, seq: 4, hash: hashOfReceipt(line) };
    return SessionRecorder.resume(optionsOf(own, 950), head).tool(call('/notes/late.txt'));
  }
}

async function anchoredLine(line: string, options?: Parameters<typeof anchorOf>[1]): Promise<string> {
  const receipt = JSON.parse(line) as JsonObject;
  const { anchor } = await anchorOf(receipt, options);
  return new TextDecoder().decode(canonicalBytes({ ...receipt, anchor }));
}

async function byService(): Promise<SessionCase> {
  const { recorder, lines } = await recorded(signers.service, 100, SERVICE_DID);
  const closed = [...lines, await recorder.close()];
  return {
    name: 'signed-by-a-service',
    comment: 'A service signs what an agent tells it; the verifier trusts that service.',
    file: fileOf(closed),
    trust: 'known',
    now: NOW,
    expected: {
      valid: true,
      integrity: true,
      trusted: true,
      state: 'closed',
      count: 5,
      head: hashOfReceipt(closed.at(-1) ?? ''),
      anchored_up_to: null,
      references: NONE,
      faults: [],
    },
  };
}

/** A session under a key that its owner reported as compromised before it was recorded. */
async function byCompromised(): Promise<SessionCase> {
  const { recorder, lines } = await recorded(signers.compromised, 150);
  const closed = [...lines, await recorder.close()];
  return {
    name: 'pinned-key-compromised',
    comment:
      'The receipts contradict their issuer: whoever pins the key does not trust it more than the trust does.',
    file: fileOf(closed),
    trust: 'known',
    key: signers.compromised.keyId,
    now: NOW,
    expected: {
      valid: false,
      integrity: true,
      trusted: false,
      state: 'closed',
      count: 5,
      head: hashOfReceipt(closed.at(-1) ?? ''),
      anchored_up_to: null,
      references: NONE,
      faults: [],
    },
  };
}

/** A session with a reference to another one's opening, which is given, not given, and another one. */
async function withReference(own: Signer): Promise<SessionCase[]> {
  const { lines: theirs } = await recorded(signers.stranger, 200);
  const { lines: others } = await recorded(signers.stranger, 300);
  const [opening = ''] = theirs;
  const child = placeIn(opening).id;
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(own, 400));
  const named = JSON.parse(opening) as JsonObject & { receipt_id: string };
  const lines = [
    receipt,
    await recorder.reference({ receipt_id: named.receipt_id, receipt_sha256: hashOfReceipt(opening), child }),
    await recorder.close(),
  ];
  const swapped = { ...(JSON.parse(others[0] ?? '') as JsonObject), receipt_id: named.receipt_id };
  const caseOf = (
    name: string,
    comment: string,
    state: ReferenceState,
    referenced?: JsonValue[],
  ): SessionCase => ({
    name,
    comment,
    file: fileOf(lines),
    trust: 'known',
    key: own.keyId,
    ...(referenced !== undefined && { referenced }),
    now: NOW,
    expected: {
      valid: state !== 'contradicts',
      integrity: true,
      trusted: state !== 'contradicts',
      state: 'closed',
      count: 3,
      head: hashOfReceipt(lines.at(-1) ?? ''),
      anchored_up_to: null,
      references: { ...NONE, [state]: 1 },
      faults: [],
    },
  });
  return [
    caseOf('reference-valid', 'The receipt that it refers to is given.', 'valid', [named]),
    caseOf('reference-not-given', 'The receipt that it refers to is not given.', 'not_given'),
    caseOf('reference-contradicts', 'A receipt of that id is given, and is another one.', 'contradicts', [
      swapped,
    ]),
  ];
}

/** A value of a session, its salt and its hash (spec/sessions.md, *Arguments and results*). */
export interface SaltedHashCase {
  readonly name: string;
  /** 32 bytes, hex. */
  readonly session_salt: string;
  readonly salt_commitment: string;
  readonly seq: string;
  readonly part: SaltedPart;
  readonly value: { readonly json: JsonValue } | { readonly raw: string };
  /** 32 bytes, hex. */
  readonly salt: string;
  readonly hash: string;
}

/** Hashes of arguments and results. */
export function saltedHashCases(): SaltedHashCase[] {
  const caseOf = (
    name: string,
    seq: string,
    part: SaltedPart,
    value: SaltedHashCase['value'],
  ): SaltedHashCase => {
    const salt = saltOf(SALT, seq, part);
    const hashed = 'json' in value ? value : { raw: fromHex(value.raw) };
    return {
      name,
      session_salt: toHex(SALT),
      salt_commitment: commitSalt(SALT),
      seq,
      part,
      value,
      salt: toHex(salt),
      hash: saltedHash(salt, hashed),
    };
  };
  const json = { path: '/notes/å.txt', lines: [1, 2.5] };
  return [
    caseOf('arguments', '1', 'arguments', { json }),
    caseOf('the same value as a result', '1', 'result', { json }),
    caseOf('the same value in another receipt', '12', 'arguments', { json }),
    caseOf('null is a value', '1', 'arguments', { json: null }),
    caseOf('bytes that are no JSON', '1', 'result', { raw: 'ff00' }),
  ];
}

/** An opening of one value, and what a verifier of the session says of it (spec/sessions.md, *Opening one value*). */
export interface OpenedValueCase {
  readonly name: string;
  readonly comment: string;
  /** The text of the session's file. */
  readonly file: string;
  readonly now: string;
  readonly opening: JsonValue;
  /** What the check finds, or the code of the error for what is no opening. */
  readonly expected: ReferenceState | 'invalid_field' | 'invalid_base64url';
}

/** Openings of the values of one session. Its third receipt has arguments that are no I-JSON. */
export async function openedValueCases(): Promise<OpenedValueCase[]> {
  const { recorder, lines } = await recorded(signers.agent, 500);
  const bytes = new Uint8Array([0xff, 0x00]);
  const broken = await recorder.tool({ ...call('/notes/raw.txt'), arguments: { raw: bytes } });
  const file = fileOf([...lines, broken, await recorder.close()]);
  const session_id = recorder.head.id;
  const json = { path: '/notes/completed.txt' };
  const opening = openSessionValue(SALT, { session_id, seq: '1', part: 'arguments' }, { json });
  const { result } = call('/notes/completed.txt');
  const caseOf = (
    name: string,
    comment: string,
    expected: OpenedValueCase['expected'],
    change: object = {},
  ): OpenedValueCase => ({
    name,
    comment,
    file,
    now: NOW,
    opening: JSON.parse(JSON.stringify({ ...opening, ...change })) as JsonValue,
    expected,
  });
  const raw = openSessionValue(SALT, { session_id, seq: '4', part: 'arguments' }, { raw: bytes });
  const ofResult = openSessionValue(
    SALT,
    { session_id, seq: '1', part: 'result' },
    { json: result?.json ?? null },
  );
  return [
    caseOf('arguments', 'The arguments of receipt 1.', 'valid'),
    caseOf('result', 'The result of receipt 1.', 'valid', ofResult),
    caseOf('raw', 'Arguments that are no I-JSON, as their bytes.', 'valid', { ...raw, json: undefined }),
    caseOf('another value', 'The path was changed.', 'contradicts', { json: { path: '/notes/other.txt' } }),
    caseOf('another salt', 'The salt of the result, and the arguments.', 'contradicts', {
      salt: ofResult.salt,
    }),
    caseOf(
      'bytes of JSON',
      'The same arguments as bytes: the receipt says that they came as JSON.',
      'contradicts',
      {
        json: undefined,
        raw: toBase64url(canonicalBytes(json)),
      },
    ),
    caseOf('another number', 'Receipt 2 has other arguments.', 'contradicts', { seq: '2' }),
    caseOf('a value that is not there', 'Receipt 3 was denied, and has no result.', 'contradicts', {
      ...ofResult,
      seq: '3',
    }),
    caseOf('no receipt', 'The session has no receipt 9.', 'not_given', { seq: '9' }),
    caseOf('the opening receipt', 'Receipt 0 is of no tool.', 'not_given', { seq: '0' }),
    caseOf('another session', 'The opening is of another session.', 'not_given', {
      session_id: '0'.repeat(32),
    }),
    caseOf('without a value', 'Neither json nor raw.', 'invalid_field', { json: undefined }),
    caseOf('two values', 'Both json and raw.', 'invalid_field', { raw: 'AA' }),
    caseOf('a further member', 'An opening is closed.', 'invalid_field', { note: '' }),
    caseOf('a short salt', '31 bytes.', 'invalid_field', { salt: opening.salt.slice(2) }),
    caseOf('padded bytes', 'The bytes are not canonical base64url.', 'invalid_base64url', {
      ...raw,
      json: undefined,
      raw: '/wA=',
    }),
  ];
}
