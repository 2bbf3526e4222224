import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../../store/src/sqlite.ts';
import type { Store } from '../../../store/src/store.ts';
import { storedNotes } from './session-notes.ts';
import { Sessions } from './sessions.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
let pings = 0;
/** A ping with an id of its own. */
const pingOf = () => ({ jsonrpc: '2.0', id: `ping ${++pings}`, method: 'ping' });

let store: Store;
beforeAll(async () => {
  store = await openSqliteStore(':memory:');
});
afterAll(() => store.close());

/** @param wait what the tool `wait` and the resource `test://wait` do before they answer with their own name */
function start(limits: { all: number; perClient: number; idleMs: number }, wait = async () => {}) {
  let now = 0;
  const connect = (): McpServer => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('wait', {}, ({ sessionId, mcpReq: { id, signal: cancelled } }) =>
      sessions.during({ sessionId, id, cancelled }, async () => {
        await wait();
        return { content: [{ type: 'text', text: 'waited' }] };
      }),
    );
    server.registerResource('wait', 'test://wait', {}, async ({ href: uri }) => {
      await wait();
      return { contents: [{ uri, text: 'waited' }] };
    });
    return server;
  };
  const sessions: Sessions = new Sessions(
    connect,
    () => now,
    storedNotes(store, () => now),
    limits,
  );
  const request = (headers: Record<string, string> = {}, method = 'POST') =>
    new Request('http://localhost/mcp', {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
    });
  return {
    sessions,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
    begin: async (client = 'a') => {
      const response = await sessions.begin(request(), INITIALIZE, client);
      return response?.headers.get('mcp-session-id') ?? null;
    },
    say: async (id: string | null, message: object) => {
      const response = await sessions.serve(
        id ?? '',
        request({ 'mcp-session-id': id ?? '' }),
        { jsonrpc: '2.0', ...message },
        'a',
      );
      return response as Response;
    },
    /** The status of a ping; null where the session is not open. */
    ping: async (id: string | null) =>
      (await sessions.serve(id ?? '', request({ 'mcp-session-id': id ?? '' }), pingOf(), 'a'))?.status ??
      null,
    end: async (id: string | null) =>
      (await sessions.serve(id ?? '', request({ 'mcp-session-id': id ?? '' }, 'DELETE'), undefined, 'a'))
        ?.status ?? null,
  };
}

const LIMITS = { all: 3, perClient: 3, idleMs: 1000 };
const WAITS = [
  ['a call', { method: 'tools/call', params: { name: 'wait', arguments: {} } }],
  ['a read', { method: 'resources/read', params: { uri: 'test://wait' } }],
] as const;

const call = (id: string | null) => ({ sessionId: id ?? '', id: 1, cancelled: new AbortController().signal });

describe('sessions', () => {
  it('give way, the one idle for longest first', async () => {
    const { begin, ping, sessions } = start({ all: 3, perClient: 9, idleMs: 1000 });
    const [a, b, c] = [await begin('a'), await begin('b'), await begin('c')];
    expect(await ping(a)).toBe(200);
    const d = await begin('d');
    expect(sessions.size).toBe(3);
    expect(await Promise.all([a, b, c, d].map(ping))).toEqual([200, null, 200, 200]);
  });

  it('of one client give way to its own', async () => {
    const { begin, ping } = start({ all: 9, perClient: 2, idleMs: 1000 });
    const other = await begin('b');
    const own = [await begin('a'), await begin('a'), await begin('a')];
    expect(await Promise.all([other, ...own].map(ping))).toEqual([200, null, 200, 200]);
  });

  it('end when they are idle, and not while a call runs', async () => {
    const { begin, ping, advance, sessions } = start({ all: 9, perClient: 9, idleMs: 1000 });
    const [idle, busy] = [await begin(), await begin()];
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = sessions.during(call(busy), () => promise);
    advance(1000);
    await begin();
    expect(await ping(idle)).toBe(null);
    expect(sessions.size).toBe(2);
    resolve();
    await running;
    advance(999);
    expect(await ping(busy)).toBe(200);
  });

  it('refuse more where every place is busy', async () => {
    const { begin, sessions } = start({ all: 1, perClient: 1, idleMs: 1000 });
    const id = await begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = sessions.during(call(id), () => promise);
    expect(await begin()).toBe(null);
    resolve();
    await running;
    expect(await begin()).not.toBe(null);
    expect(sessions.size).toBe(1);
  });

  it('go on in another process, also when several requests come at once', async () => {
    const limits = { all: 3, perClient: 3, idleMs: 1000 };
    const [one, other] = [start(limits), start(limits)];
    const id = await one.begin();
    expect(await Promise.all([other.ping(id), other.ping(id), one.ping(id)])).toEqual([200, 200, 200]);
    expect(other.sessions.size).toBe(1);
    other.advance(1000);
    await other.begin();
    expect(await other.ping(id)).toBe(null);
    expect(await one.ping(id)).toBe(200);
    expect(await other.ping('no-session')).toBe(null);
  });

  it('end in all processes when the client ends them in one', async () => {
    const limits = { all: 3, perClient: 3, idleMs: 1000 };
    const [one, other] = [start(limits), start(limits)];
    const id = await one.begin();
    expect(await other.ping(id)).toBe(200);
    expect(await other.end(id)).toBe(200);
    expect([await one.ping(id), await one.end(id), await other.ping(id)]).toEqual([null, null, null]);
    expect([one.sessions.size, other.sessions.size]).toEqual([0, 0]);
  });

  it('are not kept where initialize is refused', async () => {
    const { sessions } = start({ all: 9, perClient: 9, idleMs: 1000 });
    const plain = new Request('http://localhost/mcp', { method: 'POST' });
    expect((await sessions.begin(plain, INITIALIZE, 'a'))?.status).toBe(406);
    expect(sessions.size).toBe(0);
  });

  it.each(WAITS)('give the answer to %s to nobody who asks under the same id meanwhile', async (_, asked) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { begin, say } = start(LIMITS, () => promise);
    const id = await begin();
    const first = await say(id, { id: 7, ...asked });
    for (const other of [asked, { method: 'ping' }])
      await expect(say(id, { id: 7, ...other })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await (await say(id, { id: '7', method: 'ping' })).text()).toContain('"result":{}');
    resolve();
    expect(await first.text()).toContain('waited');
    expect(await (await say(id, { id: 7, method: 'ping' })).text()).toContain('"result":{}');
  });

  it.each(WAITS)('close the stream of %s that is taken back, and free its id', async (_, asked) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { begin, say } = start(LIMITS, () => promise);
    const id = await begin();
    const first = await say(id, { id: 7, ...asked });
    expect((await say(id, { method: 'notifications/cancelled', params: { requestId: 7 } })).status).toBe(202);
    resolve();
    expect(await first.text()).toBe('');
    expect(await (await say(id, { id: 7, method: 'ping' })).text()).toContain('"result":{}');
  });

  it('free an id whose request was refused', async () => {
    const { begin, sessions, ping } = start(LIMITS);
    const id = await begin();
    const plain = new Request('http://localhost/mcp', { method: 'POST' });
    expect((await sessions.serve(id ?? '', plain, pingOf(), 'a'))?.status).toBe(406);
    expect(await ping(id)).toBe(200);
  });

  it('read no more of a client’s notes than what they look for', async () => {
    const { begin, say, ping } = start(LIMITS);
    const id = await begin();
    for (const requestId of [1, 2, 3])
      await say(id, { method: 'notifications/cancelled', params: { requestId } });
    const recalled = vi.spyOn(store.compression, 'recall');
    expect(await ping(id)).toBe(200);
    const read = await Promise.all(
      recalled.mock.results.map(({ value }) => value as Promise<Map<string, string>>),
    );
    recalled.mockRestore();
    expect(read.map(({ size }) => size)).toEqual([0]);
  });
});
