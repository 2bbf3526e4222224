import { randomBytes } from 'node:crypto';
import { createSigner, ownKeySigner, SessionRecorder, type Signer } from '@tallystick/core';
import { constantFrom, integer, nat, record, sample } from 'fast-check';

/** One line of a closed session was changed, and what a verifier must find. */
export interface TamperedSession {
  readonly change: Change;
  /** JSON Lines. */
  readonly file: string;
  /** Fault that must be named; null if there is none, because nobody can see the change. */
  readonly fault: string | null;
}

const CHANGES = [
  'nothing',
  'removed',
  'doubled',
  'reordered',
  'edited',
  'signed by another key',
  'signed again',
] as const;
type Change = (typeof CHANGES)[number];

const NOW = Date.UTC(2026, 10, 20);
const server = { name: 'files', version: null, transport: 'stdio', identity_sha256: null } as const;
const key = await createSigner(new Uint8Array(32).fill(1));
const otherKey = await createSigner(new Uint8Array(32).fill(2));

/** Makes random sessions, each with one random change. The same seed gives the same changes. */
export async function* tamperedSessions(count: number, seed: number): AsyncGenerator<TamperedSession> {
  const cases = record({
    calls: integer({ min: 1, max: 5 }),
    place: nat(),
    change: constantFrom(...CHANGES),
  });
  for (const { calls, place, change } of sample(cases, { numRuns: count, seed })) {
    const lines = await closedSession(calls);
    const at = place % lines.length;
    const { changed, fault } = await changeLine(lines, at, change);
    yield { change, file: `${changed.join('\n')}\n`, fault };
  }
}

/** Receipts of a closed session with so many calls of a tool. */
export async function closedSession(calls: number): Promise<string[]> {
  const { recorder, receipt } = await SessionRecorder.open(recorderOptions());
  const lines = [receipt];
  for (let call = 0; call < calls; call++) lines.push(await recorder.tool(toolCall(call)));
  return [...lines, await recorder.close()];
}

/** Options of a recorder, whose sessions were recorded on 20 November 2026. */
export function recorderOptions(signer: Signer = key) {
  const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));
  const sign = ownKeySigner({ signer, now: () => NOW, random });
  return { sign, salt: new Uint8Array(32), random };
}

export function toolCall(call: number) {
  const values = { arguments: { json: { call } }, result: { json: { text: `${call}` } } };
  return { tool: 'read_file', server, outcome: 'completed' as const, ...values };
}

async function changeLine(
  lines: readonly string[],
  at: number,
  change: Change,
): Promise<{ changed: readonly string[]; fault: string | null }> {
  const last = lines.length - 1;
  const line = lines[at] ?? '';
  const rest = lines.filter((_, index) => index !== at);
  switch (change) {
    case 'nothing':
      return { changed: lines, fault: null };
    case 'removed':
      return { changed: rest, fault: at === last ? null : 'gap' };
    case 'doubled':
      return { changed: [...lines, line], fault: 'duplicate' };
    case 'reordered':
      return { changed: at === last ? [line, ...rest] : [...rest, line], fault: 'reordered' };
    case 'edited':
      return { changed: lines.with(at, line.replace('"region":null', '"region":"EU"')), fault: 'edited' };
    case 'signed by another key':
      return { changed: lines.with(at, await signedAgain(otherKey, line)), fault: 'foreign_key' };
    case 'signed again': {
      // Nothing after the last line could contradict it. Another first one opens nothing.
      const fault = at === last ? null : at === 0 ? 'gap' : 'fork';
      return { changed: lines.with(at, await signedAgain(key, line)), fault };
    }
  }
}

/** Another receipt for the place of a line. */
function signedAgain(signer: Signer, line: string): Promise<string> {
  const { id, seq, prev } = JSON.parse(line).call.session;
  return SessionRecorder.resume(recorderOptions(signer), { id, seq: seq - 1, hash: prev }).tool(toolCall(99));
}
