import { execFile } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  canonicalize,
  copyJson,
  createSigner,
  declaredSigner,
  rootOf,
  type SessionEntryToSign,
  type SessionVerification,
  saltedHash,
  saltOf,
  TallyError,
  verifySession,
} from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSession } from '../sessions/session.ts';
import type { SessionIssuer } from '../sessions/signer.ts';
import { openSessionFile } from './session-file.ts';

const key = new Uint8Array(32).fill(1);
const { keyId } = await createSigner(key);
const server = { name: 'files', version: '1.2.0', transport: 'stdio', identity_sha256: null } as const;
const call = (path: string) => ({
  tool: 'read',
  server,
  arguments: { path },
  outcome: 'completed' as const,
  result: { content: [] },
});

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-session-'));
  path = join(folder, 'day.jsonl');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const judge = (file = path): Promise<SessionVerification> =>
  verifySession(readFileSync(file), { now: Date.now(), key: keyId });
const textOf = (suffix: string): string => readFileSync(`${path}${suffix}`, 'utf8');
const outcomes = ({ entries }: SessionVerification): unknown[] =>
  entries.map(({ call: step }) => (step.kind === 'tool' ? step.outcome : step.kind));

describe('a session’s file', () => {
  it('holds a closed session, and nothing else remains but its salt', async () => {
    const session = await openSessionFile(path, { key });
    await session.record(call('a'));
    await Promise.all([session.record(call('b')), session.record(call('c'))]);
    await session.close();
    expect(await judge()).toMatchObject({ valid: true, trusted: true, state: 'closed', count: 5 });
    expect([statSync(path).mode & 0o777, statSync(`${path}.salt`).mode & 0o777]).toEqual([0o600, 0o600]);
    expect([existsSync(`${path}.lock`), textOf('.journal')]).toEqual([false, '']);
    await expect(session.record(call('d'))).rejects.toMatchObject({ code: 'session_closed' });
  });

  it('is made with the first call where it is to be late', async () => {
    const unused = await openSessionFile(path, { key, late: true });
    await expect(openSessionFile(path, { key, late: true })).rejects.toMatchObject({
      code: 'session_in_use',
    });
    await unused.release();
    expect(readdirSync(folder)).toEqual([]);
    const session = await openSessionFile(path, { key, late: true });
    await session.begin(call('a'));
    expect(textOf('.journal')).toContain('"path":"a"');
    await session.release();
    expect((await openSessionFile(path, { key, late: true })).remarks).toHaveLength(1);
    expect(outcomes(await judge())).toEqual(['session', 'unknown']);
  });

  it('is not written over what came into it before a late one’s first call', async () => {
    const late = await openSessionFile(path, { key, late: true });
    const other = await openSessionFile(join(folder, 'other.jsonl'), { key });
    await other.close();
    writeFileSync(path, readFileSync(other.path));
    await expect(late.record(call('a'))).rejects.toMatchObject({ code: 'session_in_use' });
    expect(textOf('')).toBe(readFileSync(other.path, 'utf8'));
  });

  it('goes on with an open session', async () => {
    const first = await openSessionFile(path, { key });
    await first.record(call('a'));
    await first.release();
    const second = await openSessionFile(path, { key });
    expect([second.id, second.remarks]).toEqual([first.id, []]);
    await second.record(call('b'));
    await second.close();
    expect(await judge()).toMatchObject({ valid: true, state: 'closed', count: 4 });
  });

  it('continues a closed session in another file', async () => {
    const first = await openSessionFile(path, { key });
    await first.close();
    const before = textOf('');
    const second = await openSessionFile(path, { key });
    await second.close();
    const third = await openSessionFile(path, { key });
    await third.close();
    expect([second.path, third.path]).toEqual([join(folder, 'day-2.jsonl'), join(folder, 'day-3.jsonl')]);
    expect(textOf('')).toBe(before);
    const { call: closing } = (await judge()).entries[1] ?? {};
    expect(await judge(second.path)).toMatchObject({
      valid: true,
      continues: { id: first.id, count: '2', head: (closing as { head?: string }).head },
    });
    expect(await judge(third.path)).toMatchObject({ continues: { id: second.id } });
  });

  it('records as unknown what was never answered, once', async () => {
    const first = await openSessionFile(path, { key });
    const answered = await first.begin(call('a'));
    await first.begin(call('b'));
    await first.begin({ tool: 'raw', server, arguments: new Uint8Array([255]) });
    await first.end(answered, call('a'));
    await first.release();
    expect(textOf('.journal')).toContain('"path":"b"');
    const second = await openSessionFile(path, { key });
    expect(second.remarks).toEqual([
      'A call of read had no answer. Number 2 records it as unknown.',
      'A call of raw had no answer. Number 3 records it as unknown.',
    ]);
    expect(textOf('.journal')).toBe('');
    await second.release();
    expect((await openSessionFile(path, { key })).remarks).toEqual([]);
    const verdict = await judge();
    expect(outcomes(verdict)).toEqual(['session', 'completed', 'unknown', 'unknown']);
    expect(verdict.entries[3]?.call).toMatchObject({ raw: ['arguments'] });
  });

  it('records as unknown, before it closes, what is still open', async () => {
    const session = await openSessionFile(path, { key });
    await session.begin(call('a'));
    await session.close();
    expect(outcomes(await judge())).toEqual(['session', 'unknown', 'session']);
  });

  it('does not close while what is still open can’t be signed', async () => {
    const signer = await createSigner(key);
    let fails = 0;
    const flaky = {
      ...signer,
      sign: (message: Uint8Array) => (fails-- > 0 ? Promise.reject(new Error('busy')) : signer.sign(message)),
    };
    const session = await openSessionFile(path, { key: flaky });
    await session.begin(call('a'));
    fails = 1;
    await expect(session.close()).rejects.toThrow('busy');
    await session.close();
    expect(outcomes(await judge())).toEqual(['session', 'unknown', 'session']);
  });

  it('begins no call that could have no receipt, and leaves out one that an earlier release began', async () => {
    const first = await openSessionFile(path, { key });
    const nameless = { ...call('a'), server: { ...server, version: '' } };
    await expect(first.begin(nameless)).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'server.version',
    });
    await expect(first.begin({ ...call('a'), tool: '' })).rejects.toMatchObject({ field: 'tool' });
    await first.begin(call('b'));
    await first.release();
    writeFileSync(`${path}.journal`, textOf('.journal').replace('"version":"1.2.0"', '"version":""'));
    const second = await openSessionFile(path, { key });
    expect(second.remarks).toEqual([
      expect.stringMatching(/^A call of read has no receipt, because none can be made of it\. /),
    ]);
    await second.record(call('c'));
    await second.close();
    expect(outcomes(await judge())).toEqual(['session', 'completed', 'session']);
  });

  it('knows that a call has ended by its receipt in the file', async () => {
    const first = await openSessionFile(path, { key });
    const begun = await first.begin(call('a'));
    const { size } = statSync(path);
    const journal = textOf('.journal');
    await first.end(begun, call('a'));
    await first.release();
    // The machine stopped after the journal was written, and before the receipt was.
    writeFileSync(`${path}.journal`, `${journal}{"end":1,"seq":1}\n{"begin":2,"to`);
    const second = await openSessionFile(path, { key });
    expect(second.remarks).toEqual([]);
    await second.release();
    writeFileSync(`${path}.journal`, `${journal}{"end":1,"seq":1}\n`);
    truncateSync(path, size);
    expect((await openSessionFile(path, { key })).remarks).toHaveLength(1);
    expect(await judge()).toMatchObject({ valid: true, count: 2 });
  });

  it('records a call whose receipt was noted and not written, though another receipt took its number', async () => {
    const first = await openSessionFile(path, { key });
    await first.begin(call('a'));
    await first.begin(call('b'));
    const journal = textOf('.journal');
    await first.release();
    // It ended before the receipt of the second call was written; then a start ended after it had written one for the first.
    writeFileSync(`${path}.journal`, `${journal}{"end":2,"seq":1}\n`);
    const second = await openSessionFile(path, { key });
    await second.release();
    const lines = textOf('').split('\n');
    writeFileSync(path, `${lines.slice(0, 2).join('\n')}\n`);
    writeFileSync(`${path}.journal`, `${journal}{"end":2,"seq":1}\n{"end":1,"seq":1}\n`);
    const third = await openSessionFile(path, { key });
    expect(third.remarks).toEqual(['A call of read had no answer. Number 2 records it as unknown.']);
    await third.close();
    expect(textOf('').split('\n')[2]).toContain(JSON.parse(lines[2] ?? '').request.hash);
    expect(outcomes(await judge())).toEqual(['session', 'unknown', 'unknown', 'session']);
  });

  it('makes no call for whose note there is no room, and notes the next one', async () => {
    const code = `const { openSessionFile } = await import(process.argv[1]);
      const session = await openSessionFile(process.argv[2], { key: new Uint8Array(32).fill(1) });
      const server = ${JSON.stringify(server)};
      const begin = (path) =>
        session.begin({ tool: 'read', server, arguments: { path } }).then(() => 'noted', ({ code }) => code);
      console.log(await begin('a'), await begin('b'.repeat(99_999)), await begin('c'));
      process.exit();`;
    // No file gets more than some kilobytes, as on a disk that is almost full.
    const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$@"`;
    const args = [code, new URL('session-file.ts', import.meta.url).href, path];
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, ...args]);
    expect(stdout).toBe('noted EFBIG noted\n');
    expect((await openSessionFile(path, { key })).remarks).toEqual([
      'A call of read had no answer. Number 1 records it as unknown.',
      'A call of read had no answer. Number 2 records it as unknown.',
    ]);
  });

  it('cuts off a torn end, and keeps a receipt whose line feed alone is missing', async () => {
    const first = await openSessionFile(path, { key });
    await first.record(call('a'));
    await first.release();
    const { size } = statSync(path);
    appendFileSync(path, '{"call":{"ki');
    const second = await openSessionFile(path, { key });
    expect([second.remarks, statSync(path).size]).toEqual([
      [`The last line of ${path} was cut before its end, and was taken out.`],
      size,
    ]);
    await second.release();
    truncateSync(path, size - 1);
    const third = await openSessionFile(path, { key });
    expect([third.remarks, third.head.seq, statSync(path).size]).toEqual([[], 1, size]);
    await third.close();
    expect(await judge()).toMatchObject({ valid: true, count: 3, notes: [] });
  });

  it('leaves a file as it is whose end is longer than any receipt', async () => {
    const bytes = Buffer.alloc(8 * 1_048_576, 'x');
    writeFileSync(path, bytes);
    await expect(openSessionFile(path, { key })).rejects.toMatchObject({
      code: 'session_unusable',
      message: expect.stringMatching(/longer than any receipt/),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('begins anew in a file whose opening was torn', async () => {
    writeFileSync(path, '{"call":');
    await (await openSessionFile(path, { key })).close();
    expect(await judge()).toMatchObject({ valid: true, count: 2 });
  });

  it.each([
    ['is of another key', () => undefined, new Uint8Array(32).fill(2)],
    ['is of no session', () => appendFileSync(path, '{}\n'), key],
    ['has lost its salt', () => rmSync(`${path}.salt`), key],
    ['has the salt of another', () => writeFileSync(`${path}.salt`, '{}'), key],
  ])('is left alone if it %s', async (_, spoil, secret) => {
    await (await openSessionFile(path, { key })).release();
    spoil();
    const before = textOf('');
    await expect(openSessionFile(path, { key: secret })).rejects.toMatchObject({ code: 'session_unusable' });
    expect([textOf(''), existsSync(`${path}.lock`)]).toEqual([before, false]);
  });

  it('is recorded in by one at a time', async () => {
    const first = await openSessionFile(path, { key });
    await expect(openSessionFile(path, { key })).rejects.toMatchObject({ code: 'session_in_use' });
    const waiting = openSessionFile(path, { key, waitMs: 60_000 });
    await first.release();
    await (await waiting).close();
    expect(await judge()).toMatchObject({ valid: true, state: 'closed' });
  });

  it('takes over the lock of a process that is gone', async () => {
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1 }));
    await (await openSessionFile(path, { key })).release();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it.each([
    ['a living process', { host: hostname(), pid: process.ppid }],
    ['another thread of this process', { host: hostname(), pid: process.pid }],
    ['a process of another host', { host: 'elsewhere', pid: 1 }],
    ['a process that has not yet written its name', null],
  ])('respects the lock of %s', async (_, holder) => {
    writeFileSync(`${path}.lock`, holder === null ? '' : JSON.stringify(holder));
    await expect(openSessionFile(path, { key })).rejects.toMatchObject({ code: 'session_in_use' });
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  it('is not written to once something else has written to it', async () => {
    const session = await openSessionFile(path, { key });
    appendFileSync(path, '{}\n');
    await expect(session.record(call('a'))).rejects.toMatchObject({ code: 'session_in_use' });
    await expect(session.record(call('b'))).rejects.toMatchObject({ code: 'session_in_use' });
    await session.release();
  });

  it('is found in the folder of the user, signed by the user’s own key', async () => {
    vi.stubEnv('TALLY_HOME', folder);
    const [one, two] = await Promise.all([openSessionFile(null), openSessionFile(null)]);
    expect(one.path).toMatch(/\/sessions\/\d{8}T\d{6}Z-[0-9a-f]{8}\.jsonl$/);
    await Promise.all([one.close(), two.close()]);
    const { key_id } = JSON.parse(readFileSync(join(folder, 'recorder.json'), 'utf8'));
    for (const { path: file } of [one, two])
      expect(await verifySession(readFileSync(file), { now: Date.now(), key: key_id })).toMatchObject({
        trusted: true,
      });
  });
});

/** A service that signs sessions, and whose answers can be lost. */
async function sessionService() {
  const signer = await createSigner(new Uint8Array(32).fill(9));
  const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
  const sign = declaredSigner({ signer, now: Date.now, random }, 'did:svc:tallystick');
  const lines = new Map<string, string>();
  let losing = 0;
  const answer = async (entry: SessionEntryToSign): Promise<never> => {
    const { seq } = entry.call.session;
    const known = lines.get(seq);
    if (known !== undefined && canonicalize(JSON.parse(known).call) !== canonicalize(copyJson(entry.call)))
      throw new TallyError('session_closed', 'Another receipt has this number.');
    const text = known ?? (await sign(entry));
    lines.set(seq, text);
    if (losing > 0 && losing-- > 0) throw new TallyError('unavailable', 'The answer was lost.');
    return { text } as never;
  };
  const client: NonNullable<SessionIssuer['client']> = {
    openServiceSession: ({ sessionId, saltCommitment }) =>
      answer({
        call: {
          kind: 'session',
          event: 'open',
          salt_commitment: saltCommitment,
          session: { id: sessionId, seq: '0', prev: rootOf(sessionId) },
        },
        purpose: 'session',
        request: null,
        response: null,
      }),
    addSessionReceipt: (_, { call: step, requestHash, responseHash }) =>
      answer({ call: step, purpose: 'tool_call', request: requestHash, response: responseHash }),
    getSession: async () => [...lines.values()].map((line) => `${line}\n`).join(''),
  };
  return { client, lose: (answers: number) => void (losing = answers) };
}

describe('a session that a service signs', () => {
  it('keeps the receipt whose answer was lost before it goes on, once', async () => {
    const { client, lose } = await sessionService();
    const session = await openSessionFile(path, { client });
    const begun = await session.begin(call('a'));
    lose(1);
    await expect(session.end(begun, call('a'))).rejects.toMatchObject({ code: 'unavailable' });
    await session.record(call('b'));
    await expect(session.end(begun, call('a'))).rejects.toMatchObject({ code: 'invalid_field' });
    lose(1);
    await expect(session.close()).rejects.toMatchObject({ code: 'unavailable' });
    await session.close();
    const verdict = await verifySession(readFileSync(path), { now: Date.now() });
    expect(verdict).toMatchObject({ valid: true, state: 'closed', count: 4, recorder: { by: 'service' } });
  });

  it('keeps it for the call that it is of, where another call is like it', async () => {
    const { client, lose } = await sessionService();
    const session = await openSessionFile(path, { client });
    const [first, second] = [await session.begin(call('a')), await session.begin(call('a'))];
    const failed = { outcome: 'error', result: 'of the second' } as const;
    lose(1);
    await expect(session.end(second, failed)).rejects.toMatchObject({ code: 'unavailable' });
    const receipt = await session.end(second, failed);
    await session.end(first, { outcome: 'completed', result: 'of the first' });
    await session.close();
    const text = readFileSync(path, 'utf8');
    expect(receipt).toBe(text.split('\n')[1]);
    const verdict = await verifySession(text, { now: Date.now() });
    expect(outcomes(verdict)).toEqual(['session', 'error', 'completed', 'session']);
  });

  it('keeps it when the same call is ended again, and at the next start', async () => {
    const { client, lose } = await sessionService();
    const first = await openSessionFile(path, { client });
    const begun = await first.begin(call('a'));
    lose(1);
    await expect(first.end(begun, call('a'))).rejects.toMatchObject({ code: 'unavailable' });
    await first.end(begun, call('a'));
    lose(1);
    await expect(first.record(call('b'))).rejects.toMatchObject({ code: 'unavailable' });
    await first.release();
    const second = await openSessionFile(path, { client });
    expect(second.remarks).toEqual(['Receipts after number 1 came from the service.']);
    await second.close();
    const verdict = await verifySession(readFileSync(path), { now: Date.now() });
    expect(verdict).toMatchObject({ valid: true, count: 4 });
    expect(outcomes(verdict)).toEqual(['session', 'completed', 'completed', 'session']);
  });
});

describe('a session without a file', () => {
  it('gives each receipt to its keeper, in order', async () => {
    const lines: string[] = [];
    const session = await openSession({ key, keep: (line) => lines.push(`${line}\n`) });
    await Promise.all(['a', 'b', 'c'].map((name) => session.record(call(name))));
    await session.close();
    const verdict = await verifySession(lines.join(''), { now: Date.now(), key: keyId });
    expect(verdict).toMatchObject({ valid: true, state: 'closed', count: 5 });
  });

  it('does not go on once a receipt was not kept', async () => {
    let full = false;
    const keep = (): void => {
      if (full) throw new Error('no room');
    };
    const session = await openSession({ key, keep });
    full = true;
    await expect(session.record(call('a'))).rejects.toThrow('no room');
    full = false;
    await expect(session.record(call('b'))).rejects.toThrow('no room');
  });

  it('hashes what JSON writes of a value, and bytes where that is no I-JSON', async () => {
    const session = await openSession({ key });
    const of = async (given: unknown): Promise<{ call: { raw?: string[] } }> =>
      JSON.parse(await session.record({ ...call('a'), arguments: given }));
    expect((await of({ at: new Date(0), none: undefined })).call.raw).toBeUndefined();
    expect((await of('\ud800')).call.raw).toEqual(['arguments']);
    expect(await of(undefined)).toMatchObject({ request: { hash: null } });
  });

  it('hashes what bytes were when a call began, and refuses what JSON would write as empty', async () => {
    const bytes = Uint8Array.of(255);
    const session = await openSession({ key });
    const begun = await session.begin({ ...call('a'), arguments: bytes });
    bytes[0] = 254;
    const { request } = JSON.parse(await session.end(begun, call('a')));
    const kept = saltedHash(saltOf(session.salt, '1', 'arguments'), { raw: Uint8Array.of(255) });
    expect(request.hash).toBe(kept);
    for (const value of [
      new Map([[1, 2]]),
      new Set([1]),
      new ArrayBuffer(1),
      new Blob(['a']),
      new Error('a'),
    ])
      await expect(session.record({ ...call('a'), result: value })).rejects.toMatchObject({
        code: 'invalid_field',
      });
  });

  it('needs a key or a client', async () => {
    await expect(openSession({})).rejects.toMatchObject({ code: 'invalid_field' });
  });
});
