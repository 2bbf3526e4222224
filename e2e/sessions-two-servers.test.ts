import { join } from 'node:path';
import { readSessionReceipt, type SessionHead, verifySession } from '@tallystick/core';
import { createClient, openSession } from '@tallystick/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { requestOf, SERVER } from '../packages/server/test/sessions.ts';
import { type Env, post, type Served, serve, temporaryFolder } from './process.ts';

const SHA = `sha256:${'b'.repeat(64)}`;
const WRITERS = 20;
const EACH = 5;

let postgres: TestPostgres;
let servers: Served[];

beforeAll(async () => {
  postgres = await startPostgres();
  const dataDir = temporaryFolder();
  const env: Env = {
    TALLY_DATABASE_URL: await postgres.url('sessions'),
    TALLY_DATA_DIR: dataDir,
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_DEVNET: 'off',
  };
  servers = [await serve(env)];
  servers.push(await serve(env));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill('SIGKILL')));
  await postgres.stop();
});

/** Asks a process for the receipt behind `head`. Null if it gave no answer. */
async function add(server: Served, { id, seq, hash }: SessionHead, tool: string) {
  const session = { id, seq: String(seq + 1), prev: hash };
  const [path, body] = requestOf({
    call: { kind: 'tool', tool, server: SERVER, outcome: 'completed', session },
    purpose: 'tool_call',
    request: SHA,
    response: null,
  });
  return post(server.url + path, body).catch(() => null);
}

it('a session is one over two processes, also when one of them is killed', async () => {
  const [one, other] = servers as [Served, Served];
  const client = createClient({ baseUrl: one.url });
  const { head } = await openSession({ client });
  let newest = head;
  let acknowledged = 0;
  const killed: Promise<unknown>[] = [];

  /** Has one receipt signed; sends the same request to the other process if the first gave no answer. */
  const write = async (tool: string, first: Served): Promise<void> => {
    for (;;) {
      const behind = newest;
      const reply =
        (await add(killed.length === 0 ? first : one, behind, tool)) ?? (await add(one, behind, tool));
      const { status, text } = reply ?? { status: 0, text: '' };
      if (status === 200 || status === 201) {
        const { call, hash } = readSessionReceipt(text);
        const seq = Number(call.session.seq);
        if (seq > newest.seq) newest = { id: head.id, seq, hash };
        acknowledged += 1;
        if (acknowledged === (WRITERS * EACH) / 2) killed.push(other.kill('SIGKILL'));
        return;
      }
      const { code, session } = JSON.parse(text) as {
        code: string;
        session: { seq: string; prev: string };
      };
      expect(code, text).toBe('session_conflict');
      const seq = Number(session.seq) - 1;
      if (seq > newest.seq) newest = { id: head.id, seq, hash: session.prev };
    }
  };
  const writer = async (number: number): Promise<void> => {
    for (let turn = 0; turn < EACH; turn += 1)
      await write(`${number}-${turn}`, number % 2 === 0 ? one : other);
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
  await Promise.all(killed);

  const verdict = await verifySession(await client.getSession(head.id), { now: Date.now() });
  expect(verdict).toMatchObject({ valid: true, faults: [], count: 1 + WRITERS * EACH });
  const tools = verdict.entries.flatMap(({ call }) => (call.kind === 'tool' ? call.tool : []));
  expect(new Set(tools).size).toBe(WRITERS * EACH);
});

it('a recorder whose answers are lost records nothing twice', async () => {
  const [one] = servers as [Served];
  let requests = 0;
  const client = createClient({
    baseUrl: one.url,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      requests += 1;
      if (requests % 2 === 1) throw new TypeError('the connection broke');
      return response;
    },
  });
  const session = await openSession({ client });
  for (const tool of ['a', 'b', 'c'])
    await session.record({ tool, server: SERVER, outcome: 'completed', arguments: { tool } });
  await session.close();
  expect(requests).toBe(10);
  const lines = await createClient({ baseUrl: one.url }).getSession(session.id);
  expect(await verifySession(lines, { now: Date.now() })).toMatchObject({
    valid: true,
    state: 'closed',
    count: 5,
  });
});
