import { assert, asyncProperty, integer, nat } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSigner, type Signer } from '../ed25519/signer.ts';
import { SessionRecorder } from './recorder.ts';
import { saltedHash, saltOf } from './salted.ts';
import { readSessionReceipt } from './session-receipt.ts';
import { ownKeySigner } from './signers.ts';
import { type SessionVerification, verifySession } from './verify-session.ts';

const NOW = 1_790_000_000_000;
const SALT = new Uint8Array(32).fill(7);
const SERVER = { name: 'files', version: '1.2.0', transport: 'stdio', identity_sha256: null } as const;
const keys: readonly Signer[] = await Promise.all(
  [1, 2].map((byte) => createSigner(new Uint8Array(32).fill(byte))),
);
const [key, other] = keys as [Signer, Signer];

let drawn = 0;
/** Bytes that are not random, and never the same. */
const random = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, ++drawn);
  return bytes;
};
const optionsOf = (signer: Signer, agentDid?: string) => ({
  sign: ownKeySigner({ signer, now: () => NOW, random, agentDid }),
  salt: SALT,
  random,
});
const hashOfReceipt = (text: string): string => readSessionReceipt(text).hash;

const toolCall = (argument: number) => ({
  tool: 'read',
  server: SERVER,
  outcome: 'completed' as const,
  arguments: { json: { argument } },
  result: { json: { content: [] } },
});

/** The lines of a closed session with so many calls. */
async function closedSession(calls: number, signer = key): Promise<string[]> {
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(signer));
  const lines = [receipt];
  for (let call = 0; call < calls; call++) lines.push(await recorder.tool(toolCall(call)));
  return [...lines, await recorder.close()];
}

const judge = (lines: readonly string[], pinned: string | null = key.keyId): Promise<SessionVerification> =>
  verifySession(lines.map((line) => `${line}\n`).join(''), { now: NOW, key: pinned ?? undefined });
const namesIn = ({ faults }: SessionVerification): string[] => faults.map(({ name }) => name);

describe('a session', () => {
  it('is closed, whole and trusted by its pinned key', async () => {
    const lines = await closedSession(3);
    const verdict = await judge(lines);
    expect(verdict).toMatchObject({
      valid: true,
      trusted: true,
      state: 'closed',
      count: 5,
      faults: [],
      notes: [],
    });
    expect(verdict.recorder).toMatchObject({ by: 'own_key', key_id: key.keyId });
    expect(verdict.head).toBe(hashOfReceipt(lines.at(-1) ?? ''));
    expect((await judge(lines, null)).trusted).toBe(false);
  });

  it('takes at most 3,072 bytes for a receipt with every member', async () => {
    const { recorder } = await SessionRecorder.open(optionsOf(key, key.keyId));
    const receipt = await recorder.tool({
      ...toolCall(1),
      tool: 'x'.repeat(4_000),
      server: {
        name: 'n'.repeat(128),
        version: '10.20.30',
        transport: 'http',
        identity_sha256: `sha256:${'a'.repeat(64)}`,
      },
      arguments: { raw: new Uint8Array([255]) },
    });
    expect(JSON.parse(receipt).call).toMatchObject({
      tool: expect.stringMatching(/^sha256:/),
      raw: ['arguments'],
    });
    expect(receipt.length).toBeLessThan(2_200);
  });

  it('opens one value by its salt, and tells nothing of the others', async () => {
    const lines = await closedSession(2);
    const { entries } = await judge(lines);
    const salt = saltOf(SALT, '1', 'arguments');
    expect(saltedHash(salt, { json: { argument: 0 } })).toBe(entries[1]?.request_hash);
    expect(saltedHash(salt, { json: { argument: 1 } })).not.toBe(entries[2]?.request_hash);
  });

  it('numbers calls that are recorded at once', async () => {
    const { recorder, receipt } = await SessionRecorder.open(optionsOf(key));
    const calls = await Promise.all([1, 2, 3, 4].map((call) => recorder.tool(toolCall(call))));
    expect(await judge([receipt, ...calls, await recorder.close()])).toMatchObject({ valid: true, count: 6 });
    await expect(recorder.tool(toolCall(5))).rejects.toMatchObject({ code: 'session_closed' });
  });

  it('goes on from its newest receipt', async () => {
    const { recorder, receipt } = await SessionRecorder.open(optionsOf(key));
    const resumed = SessionRecorder.resume(optionsOf(key), recorder.head);
    expect(await judge([receipt, await resumed.tool(toolCall(1)), await resumed.close()])).toMatchObject({
      valid: true,
      state: 'closed',
    });
  });

  it('says of an open session that its tail cannot be judged', async () => {
    const lines = (await closedSession(3)).slice(0, 3);
    const verdict = await judge(lines);
    expect(verdict).toMatchObject({ valid: true, state: 'open', count: 3, faults: [] });
    expect(verdict.notes).toEqual([
      'The session is open: nobody can see whether receipts after number 2 were cut off.',
    ]);
  });

  it('leaves a torn end out and says so; torn in the middle is a fault', async () => {
    const [first = '', second = '', third = ''] = await closedSession(1);
    const cut = await verifySession(`${first}\n${second}\n${third.slice(0, 40)}`, { now: NOW });
    expect(cut).toMatchObject({ integrity: true, state: 'open', count: 2 });
    expect(cut.notes[0]).toBe('Line 3 was cut before its end, and is left out.');
    expect(namesIn(await judge([first, second.slice(0, 40), third]))).toEqual(['torn', 'gap']);
  });

  it('says of each reference whether the receipt was given', async () => {
    const { recorder, receipt } = await SessionRecorder.open(optionsOf(key));
    const [called = ''] = await closedSession(0, other);
    const [foreign = ''] = await closedSession(0, other);
    const named = { receipt_id: JSON.parse(called).receipt_id, receipt_sha256: hashOfReceipt(called) };
    const lines = [receipt, await recorder.reference(named), await recorder.close()].join('\n');
    const state = async (referenced?: unknown[]): Promise<unknown> => {
      const verdict = await verifySession(`${lines}\n`, { now: NOW, referenced: referenced as [] });
      return [verdict.valid, verdict.entries[1]?.reference];
    };
    expect(await state()).toEqual([true, 'not_given']);
    expect(await state([JSON.parse(called)])).toEqual([true, 'valid']);
    const swapped = { ...JSON.parse(foreign), receipt_id: named.receipt_id };
    expect(await state([swapped])).toEqual([false, 'contradicts']);
    expect(await state([JSON.stringify(swapped)])).toEqual([false, 'contradicts']);
  });
});

/** A change of one line of a closed session that does not leave it as it was, and the fault that it is. */
const changes: Readonly<
  Record<string, (lines: readonly string[], at: number) => Promise<{ lines: string[]; fault: string | null }>>
> = {
  async removed(lines, at) {
    // Without its end, a session is an open one, and says so.
    return { lines: lines.filter((_, index) => index !== at), fault: at === lines.length - 1 ? null : 'gap' };
  },
  async doubled(lines, at) {
    return { lines: [...lines.slice(0, at + 1), ...lines.slice(at)], fault: 'duplicate' };
  },
  async reordered(lines, at) {
    const to = at === lines.length - 1 ? 0 : lines.length - 1;
    const rest = lines.filter((_, index) => index !== at);
    return { lines: [...rest.slice(0, to), lines[at] ?? '', ...rest.slice(to)], fault: 'reordered' };
  },
  async edited(lines, at) {
    return {
      lines: lines.with(at, (lines[at] ?? '').replace('"svc-receipt-v1"', '"svc-receipt-v1","x":1')),
      fault: 'edited',
    };
  },
  async 'signed by another key'(lines, at) {
    const theirs = await closedSession(lines.length - 2, other);
    const { id } = JSON.parse(lines[0] ?? '').call.session;
    const place = JSON.parse(lines[at] ?? '').call.session;
    const recorder = SessionRecorder.resume(optionsOf(other), { id, seq: place.seq - 1, hash: place.prev });
    expect(theirs.length).toBe(lines.length);
    return { lines: lines.with(at, await recorder.tool(toolCall(99))), fault: 'foreign_key' };
  },
  async 'signed again by the same key'(lines, at) {
    const { id } = JSON.parse(lines[0] ?? '').call.session;
    const place = JSON.parse(lines[at] ?? '').call.session;
    const recorder = SessionRecorder.resume(optionsOf(key), { id, seq: place.seq - 1, hash: place.prev });
    const again = await recorder.tool(toolCall(99));
    // The last one has nothing after it that it could contradict.
    const fault = at === lines.length - 1 ? null : at === 0 ? 'gap' : 'fork';
    return { lines: lines.with(at, again), fault };
  },
};

describe.each(Object.entries(changes))('one line %s', (_name, change) => {
  it('is found and named, wherever it is', async () => {
    await assert(
      asyncProperty(integer({ min: 1, max: 5 }), nat(), async (calls, place) => {
        const lines = await closedSession(calls);
        const changed = await change(lines, place % lines.length);
        const verdict = await judge(changed.lines);
        const { valid, state } = verdict;
        const found =
          changed.fault === null ? state : namesIn(verdict).find((name) => name === changed.fault);
        expect({ valid, found }).toEqual({ valid: changed.fault === null, found: changed.fault ?? 'open' });
      }),
      { numRuns: 25 },
    );
  });
});

it('finds a closing that counts wrongly', async () => {
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(key));
  const { id, seq, hash } = recorder.head;
  const skipped = SessionRecorder.resume(optionsOf(key), { id, seq: seq + 1, hash });
  expect(namesIn(await judge([receipt, await skipped.close()]))).toEqual(['gap']);
  const closed = SessionRecorder.resume(optionsOf(key), recorder.head);
  const after = [receipt, await closed.close()];
  const later = SessionRecorder.resume(optionsOf(key), closed.head);
  expect(namesIn(await judge([...after, await later.tool(toolCall(1))]))).toEqual(['count_mismatch']);
});

it('names a run of missing numbers once, however long it is', async () => {
  const { recorder, receipt } = await SessionRecorder.open(optionsOf(key));
  const far = SessionRecorder.resume(optionsOf(key), { ...recorder.head, seq: 10 ** 15 - 3 });
  const { faults } = await judge([receipt, await far.tool(toolCall(1))]);
  expect(faults).toEqual([
    { name: 'gap', line: null, seq: 1, detail: `Numbers 1 to ${10 ** 15 - 3} are missing.` },
  ]);
});
