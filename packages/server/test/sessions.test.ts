import {
  anchoredHash,
  commitSalt,
  type JsonObject,
  readSessionReceipt,
  rootOf,
  type SessionEntryToSign,
  SessionRecorder,
} from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { rotateKey } from '../../issuers/src/keyring.ts';
import { readKeyring, writeKeyring } from '../../issuers/src/keyring-file.ts';
import { expectSchema } from './schemas.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from './service.ts';
import {
  call,
  openThrough,
  type Refused,
  random,
  requestOf,
  SALT,
  SERVER,
  sessionOf,
  through,
} from './sessions.ts';

const ID = 'a'.repeat(32);
const SHA = `sha256:${'b'.repeat(64)}`;
const YEAR = 366 * 86_400_000;

let services: TestService[] = [];
afterEach(async () => {
  for (const service of services.splice(0).toReversed()) await service.close();
  services = [];
});

async function start(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService(options);
  services.push(service);
  return service;
}

/** The next tool call of a session, and how the service is asked for its receipt. */
function step(head: { id: string; seq: number; hash: string }, tool = 'read'): SessionEntryToSign {
  const session = { id: head.id, seq: String(head.seq + 1), prev: head.hash };
  return {
    call: { kind: 'tool', tool, server: SERVER, outcome: 'completed', session },
    purpose: 'tool_call',
    request: SHA,
    response: null,
  };
}

const send = (service: TestService, entry: SessionEntryToSign, headers = {}, more: JsonObject = {}) => {
  const [path, body] = requestOf(entry);
  return service.post(path, { ...body, ...more }, headers);
};

/** Asserts a refusal that says what the next place is. */
function expectConflict(reply: Reply, { id, seq, hash }: { id: string; seq: number; hash: string }): void {
  expect(reply.json, reply.text).toMatchObject({
    status: 409,
    code: 'session_conflict',
    field: 'call.session',
    session: { id, seq: String(seq + 1), prev: hash },
  });
}

describe.each(DATABASES)('a session that the service signs, on %s', (database) => {
  it('is of receipts as all others, which verify in their order, also after a restart in its middle', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const sign = through(service, key);
    const recorder = await openThrough(sign);
    await recorder.tool(call('one'));
    await service.restart();
    await recorder.tool(call('two'));
    const { receipt_id } = readSessionReceipt(await recorder.tool(call('three')));
    await recorder.reference({ receipt_id: 'r_env_1803902400_0123456789ab', receipt_sha256: SHA });
    const closing = await recorder.close();
    const { lines, verdict, reply } = await sessionOf(service, recorder.head.id, key);
    expect(reply.headers.get('content-type')).toBe('application/jsonl');
    expect(reply.headers.get('cache-control')).toBe('private, no-store');
    expect(verdict).toMatchObject({ valid: true, trusted: true, state: 'closed', count: 6, faults: [] });
    expect(verdict.recorder).toMatchObject({ by: 'service', issuer_did: 'did:svc:local' });
    expect(lines.at(-1)).toBe(closing);
    for (const line of lines) {
      const receipt = JSON.parse(line) as JsonObject;
      expectSchema('envelope', receipt);
      expectSchema('session-call', receipt['call']);
      expect(receipt).toMatchObject({ declared: ['call', 'request', 'response'], tier: 'pro' });
    }
    expect((await service.get(`/v1/receipt/${receipt_id}`)).text).toBe(lines[3]);
  });

  it('gives the same receipt for the same request, and nothing for another one in its place', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const opening = {
      call: {
        kind: 'session' as const,
        event: 'open' as const,
        salt_commitment: commitSalt(SALT),
        session: { id: ID, seq: '0', prev: rootOf(ID) },
      },
      purpose: 'session' as const,
      request: null,
      response: null,
    };
    const first = await send(service, opening, key);
    expect([first.status, first.headers.get('x-receipt-profile')]).toEqual([201, 'standard']);
    const again = await send(service, opening, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const head = { id: ID, seq: 0, hash: readSessionReceipt(first.text).hash };
    const other = await send(service, { ...opening, call: { ...opening.call, salt_commitment: SHA } }, key);
    expectConflict(other, head);

    const added = await send(service, step(head), key);
    expect(added.status).toBe(201);
    await service.restart();
    const repeated = await send(service, step(head), key);
    expect([repeated.status, repeated.text]).toEqual([200, added.text]);
    const next = { id: ID, seq: 1, hash: readSessionReceipt(added.text).hash };
    expectConflict(await send(service, step(head, 'write'), key), next);
    expectConflict(await send(service, { ...step(head), request: null }, key), next);
    expectConflict(await send(service, step({ ...next, seq: 2 }), key), next);
    expectConflict(await send(service, step({ ...next, hash: SHA }), key), next);
    const { lines } = await sessionOf(service, ID, key);
    expect(lines).toEqual([first.text, added.text]);
  });

  it('of 20 writers has neither a gap nor a fork', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const { head } = await openThrough(through(service, key));
    const { id } = head;
    let newest = head;
    const write = async (writer: number): Promise<void> => {
      for (let tries = 0; ; tries += 1) {
        const reply = await send(service, step(newest, `by ${writer}`), key);
        if (reply.status === 201) {
          const { call, hash } = readSessionReceipt(reply.text);
          newest = { id, seq: Number(call.session.seq), hash };
          return;
        }
        expect(reply.json.code, reply.text).toBe('session_conflict');
        const { seq, prev } = reply.json.session as { seq: string; prev: string };
        newest = { id, seq: Number(seq) - 1, hash: prev };
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer)));
    const { verdict } = await sessionOf(service, id, key);
    expect(verdict).toMatchObject({ valid: true, state: 'open', count: 21, faults: [] });
    const tools = verdict.entries.flatMap(({ call }) => (call.kind === 'tool' ? call.tool : []));
    expect(new Set(tools).size).toBe(20);
  });

  it('is one over two processes', async () => {
    const one = await start({ database });
    const { database: shared, keyring, dataDir } = one.config;
    const env = {
      TALLY_DATA_DIR: dataDir,
      TALLY_KEYRING: keyring.path,
      ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
    };
    const other = await start({ env });
    const key = await apiKey(one, 'pro');
    const { head } = await openThrough(through(one, key));
    let newest = head;
    for (let round = 0; round < 10; round += 1) {
      const replies = await Promise.all(
        [one, other, one, other].map((service, at) => send(service, step(newest, `t${at}`), key)),
      );
      const signed = replies.filter(({ status }) => status === 201);
      expect(signed, replies.map(({ text }) => text).join('\n')).toHaveLength(1);
      expect(replies.filter(({ json }) => json.code === 'session_conflict')).toHaveLength(3);
      const same = await Promise.all([one, other].map((service) => send(service, step(newest, 't0'), key)));
      expect(same[0]?.status).toBe(same[1]?.status);
      newest = { ...newest, seq: newest.seq + 1, hash: readSessionReceipt(signed[0]?.text ?? '').hash };
    }
    const { verdict } = await sessionOf(other, head.id, key);
    expect(verdict).toMatchObject({ valid: true, count: 11 });
  });

  it('takes nothing after its end', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const recorder = await openThrough(through(service, key));
    await recorder.close();
    expectProblem(await send(service, step(recorder.head), key), 'session_closed');
  });

  it('is for nobody else, as if it did not exist', async () => {
    const service = await start({ database });
    const [owner, stranger] = [await apiKey(service, 'pro'), await apiKey(service, 'pro')];
    const { head } = await openThrough(through(service, owner));
    const unknown = { ...head, id: 'f'.repeat(32) };
    for (const headers of [stranger, {}]) {
      const [theirs, nobodys] = [
        await send(service, step(head), headers),
        await send(service, step(unknown), headers),
      ];
      expectProblem(theirs, 'session_not_found');
      expect(theirs.json.detail).toBe(nobodys.json.detail);
      const [read, none] = [head.id, unknown.id].map((id) => service.get(`/v1/sessions/${id}`, headers));
      expectProblem((await read) as Reply, 'session_not_found');
      expect(((await none) as Reply).json.detail).toBe(((await read) as Reply).json.detail);
    }
    expectProblem(await service.get('/v1/sessions/%00', owner), 'session_not_found');
    const opening = await service.post(
      '/v1/sessions',
      { session_id: head.id, salt_commitment: SHA },
      stranger,
    );
    expectProblem(opening, 'session_conflict', 'session_id');
    expect((await sessionOf(service, head.id, owner)).lines).toHaveLength(1);
  });

  it('is read by whoever pays for its key too, and by no other key of the account', async () => {
    const service = await start({ database });
    const owner = await apiKey(service, 'pro');
    const keyOf = async () => ({
      authorization: `Bearer ${(await service.post('/v1/keys', {}, owner)).json['key'] as string}`,
    });
    const [worker, other] = [await keyOf(), await keyOf()];
    const { head } = await openThrough(through(service, worker));
    const { head: ofOwner } = await openThrough(through(service, owner));
    for (const headers of [worker, owner]) {
      expect((await sessionOf(service, head.id, headers)).lines).toHaveLength(1);
    }
    expectProblem(await service.get(`/v1/sessions/${head.id}`, other), 'session_not_found');
    expectProblem(await service.get(`/v1/sessions/${ofOwner.id}`, worker), 'session_not_found');
    expectProblem(
      await service.get(`/v1/sessions/${head.id}`, await apiKey(service, 'pro')),
      'session_not_found',
    );
    expectProblem(await send(service, step(head), owner), 'session_not_found');
  });

  it('has its closing in the log, if that was asked for at its opening, and any receipt on request', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const [path, body] = requestOf({
      call: {
        kind: 'session',
        event: 'open',
        salt_commitment: commitSalt(SALT),
        session: { id: ID, seq: '0', prev: rootOf(ID) },
      },
      purpose: 'session',
      request: null,
      response: null,
    });
    expectProblem(await service.post(path, { ...body, anchor: true }), 'api_key_missing', 'anchor');
    const opened = await service.post(path, { ...body, anchor: true }, key);
    expect(opened.headers.get('x-anchor-ref')).toBeNull();
    const sign = through(service, key);
    const head = { id: ID, seq: 0, hash: readSessionReceipt(opened.text).hash };
    const middle = await send(service, step(head), key, { anchor: true });
    expect(middle.headers.get('x-anchor-ref')).toMatch(/^urn:anchor:pending:/);
    const again = await send(service, step(head), key, { anchor: true });
    expect(again.headers.get('x-anchor-ref')).toBe(middle.headers.get('x-anchor-ref'));
    const recorder = SessionRecorder.resume(
      { sign, salt: SALT, random },
      { id: ID, seq: 1, hash: readSessionReceipt(middle.text).hash },
    );
    await recorder.tool(call('unanchored'));
    const closing = JSON.parse(await recorder.close()) as JsonObject;
    expect(closing['anchor_ref']).toMatch(/^urn:anchor:pending:/);
    expect((await service.get('/v1/log')).json.accepted).toBe(2);
    const { lines, verdict } = await sessionOf(service, ID, key);
    expect(lines.map((line) => 'anchor_ref' in JSON.parse(line))).toEqual([false, true, false, true]);
    expect(verdict).toMatchObject({ valid: true, count: 4 });
    expect(anchoredHash(closing)).toBe(verdict.head?.slice('sha256:'.length));
  });

  it('ends when the service’s key is rotated, and says what the next one continues', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const { head } = await openThrough(through(service, key));
    const { path, passphrase } = service.config.keyring;
    const keyring = await readKeyring(path, passphrase);
    writeKeyring(path, await rotateKey(keyring, 'receipt', service.clock()), passphrase);
    await service.restart();
    const refused = await send(service, step(head), key);
    expect(refused.json, refused.text).toMatchObject({
      status: 409,
      code: 'session_key_changed',
      session: { id: head.id, seq: '1', prev: head.hash },
    });
    const { seq: count, prev } = refused.json.session as { seq: string; prev: string };
    const sign = through(service, key);
    const continues = { id: head.id, count, head: prev };
    const { recorder } = await SessionRecorder.open({ sign, salt: SALT, random }, { continues });
    await recorder.tool(call('more'));
    const { verdict } = await sessionOf(service, recorder.head.id, key);
    expect(verdict).toMatchObject({ valid: true, continues, count: 2 });
  });

  it('is gone when its receipts are', async () => {
    const service = await start({ database });
    const key = await apiKey(service, 'pro');
    const { head } = await openThrough(through(service, key));
    service.clock.advance(YEAR);
    expectProblem(await service.get(`/v1/sessions/${head.id}`, key), 'receipt_purged');
    expectProblem(await send(service, step(head), key), 'receipt_purged');
    await service.services.store.purge(Math.floor(service.clock() / 1000));
    expectProblem(await service.get(`/v1/sessions/${head.id}`, key), 'receipt_purged');
  });
});

describe('a request that is wrong', () => {
  const OPEN = { session_id: ID, salt_commitment: SHA };
  const session = { id: ID, seq: '1', prev: SHA };
  const tool = { kind: 'tool', tool: 'read', server: SERVER, outcome: 'completed', session };
  const close = { kind: 'session', event: 'close', count: '2', head: SHA, session };
  const reference = {
    kind: 'reference',
    receipt_id: 'r_env_1803902400_0123456789ab',
    receipt_sha256: SHA,
    session,
  };
  const add = (call: object, more: object = {}) =>
    ['/receipts', { call, request_hash: null, response_hash: null, ...more }] as const;

  it.each([
    ['session_id', ['', { ...OPEN, session_id: 'A' }]],
    ['salt_commitment', ['', { ...OPEN, salt_commitment: 'b' }]],
    ['continues.count', ['', { ...OPEN, continues: { id: ID, count: '01', head: SHA } }]],
    ['parent.receipt_sha256', ['', { ...OPEN, parent: { id: ID, seq: '1', receipt_sha256: 'x' } }]],
    ['anchor', ['', { ...OPEN, anchor: 'yes' }]],
    ['call.kind', add({ ...tool, kind: 'inference' })],
    ['call.outcome', add({ ...tool, outcome: 'fine' })],
    ['call.tool', add({ ...tool, tool: 'é'.repeat(65) })],
    ['call.server.transport', add({ ...tool, server: { ...SERVER, transport: 'pigeon' } })],
    ['call.session.seq', add({ ...tool, session: { ...session, seq: '1.5' } })],
    ['call.session.prev', add({ ...tool, session: { ...session, prev: 'x' } })],
    ['call.session.id', add({ ...tool, session: { ...session, id: 'b'.repeat(32) } })],
    ['call.event', add({ ...close, event: 'open' })],
    ['call.count', add({ ...close, count: '3' })],
    ['call.head', add({ ...close, head: `sha256:${'c'.repeat(64)}` })],
    ['call.receipt_id', add({ ...reference, receipt_id: 'r_nano_1803902400_0123456789ab' })],
    ['request_hash', add(reference, { request_hash: SHA })],
    ['response_hash', add(close, { response_hash: SHA })],
    ['request_hash', add(tool, { request_hash: 'abc' })],
  ] as const)('names the field %s', async (field, [path, body]) => {
    const service = services[0] ?? (await start());
    const url = path === '' ? '/v1/sessions' : `/v1/sessions/${ID}${path}`;
    expectProblem(await service.post(url, body), 'invalid_field', field);
  });

  it('names what is unknown or missing, and what is too large', async () => {
    const service = await start();
    expectProblem(await service.post('/v1/sessions', { ...OPEN, salt: 'x' }), 'unknown_field', 'salt');
    expectProblem(await service.post('/v1/sessions', { session_id: ID }), 'missing_field', 'salt_commitment');
    const [path, body] = add({ ...tool, note: 'x' });
    expectProblem(await service.post(`/v1/sessions/${ID}${path}`, body), 'unknown_field', 'call.note');
    const sign = through(service);
    const { head } = await openThrough(sign);
    const large = { ...SERVER, version: 'v'.repeat(3_000) };
    const refused = await sign({
      ...step(head),
      call: { ...step(head).call, server: large } as never,
    }).catch((error: Refused) => error.reply);
    expectProblem(refused as Reply, 'receipt_too_large');
    expect((await sessionOf(service, head.id)).lines).toHaveLength(1);
  });
});
