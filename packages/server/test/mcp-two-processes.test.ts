import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, messages, type Routed, startRouted } from './compute.ts';
import { DATABASES } from './service.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** Services with nothing in common but their database and their keys, as processes are. */
describe.each(DATABASES)('a session of MCP at two services on one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  beforeAll(async () => {
    one = await startRouted({ database });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      },
    });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const begin = async (): Promise<Record<string, string>> => {
    const begun = await one.post('/mcp', INITIALIZE, ACCEPT);
    await begun.text();
    return { ...ACCEPT, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  };
  const statusAt = async (routed: Routed, session: Record<string, string>): Promise<number> =>
    (await routed.service.post('/mcp', LIST, session)).status;

  it('goes on at the other, and ends at both', async () => {
    const session = await begin();
    expect([await statusAt(other, session), await statusAt(one, session)]).toEqual([200, 200]);
    const end = { method: 'DELETE', headers: session };
    expect((await other.service.request('/mcp', end)).status).toBe(200);
    expect([await statusAt(one, session), await statusAt(other, session)]).toEqual([404, 404]);
    expect((await one.service.request('/mcp', end)).status).toBe(404);
  });

  it.each([
    ['takes back a call', { method: 'notifications/cancelled', params: { requestId: 7 } }],
    ['ends the session of a call', null],
  ])('stops a call at one when the client %s at the other', async (_, message) => {
    const session = await begin();
    one.upstream.play({ fault: { kind: 'silence' } });
    const before = one.upstream.requests.length;
    const hungUp = one.upstream.hungUp();
    const params = { name: 'chat', arguments: { model: MODEL, messages } };
    const called = one.post('/mcp', { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, session);
    await expect.poll(() => one.upstream.requests.length).toBe(before + 1);
    const told =
      message === null
        ? await other.service.request('/mcp', { method: 'DELETE', headers: session })
        : await other.service.post('/mcp', { jsonrpc: '2.0', ...message }, session);
    expect(told.status).toBe(message === null ? 200 : 202);
    // Nothing else would end it: this upstream never answers.
    await hungUp;
    expect(await (await called).text()).toBe('');
    await one.expectBalanced();
  });
});
