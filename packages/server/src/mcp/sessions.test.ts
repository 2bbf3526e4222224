import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

let store: Store;
beforeAll(async () => {
  store = await openSqliteStore(':memory:');
});
afterAll(() => store.close());

function start(limits: { all: number; perClient: number; idleMs: number }) {
  let now = 0;
  const sessions = new Sessions(
    () => new McpServer({ name: 'test', version: '1' }),
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
    /** The status of a ping; null where the session is not open. */
    ping: async (id: string | null) =>
      (await sessions.serve(id ?? '', request({ 'mcp-session-id': id ?? '' }), PING, 'a'))?.status ?? null,
    end: async (id: string | null) =>
      (await sessions.serve(id ?? '', request({ 'mcp-session-id': id ?? '' }, 'DELETE'), undefined, 'a'))
        ?.status ?? null,
  };
}

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
});
