import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as FirstTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as FirstServer } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as FirstMcpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer, Server } from '@modelcontextprotocol/server';
import { createSigner, type JsonObject, type JsonValue, saltedHash, saltOf } from '@tallystick/core';
import { generateSecretKey, openSession, type Session, verifySession } from '@tallystick/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordTools } from './record-tools.ts';

const INFO = { name: 'sums', version: '1.2.0' };
const KEY = generateSecretKey();

let session: Session;
let lines: string[];
/** Makes keeping a receipt fail, from the time that it is set. */
let failure: Error | null;
let ended: Promise<void>;
let endSlow: () => void;
let slowBegan: Promise<void>;
let beginSlow: () => void;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  lines = [];
  failure = null;
  ({ promise: ended, resolve: endSlow } = Promise.withResolvers<void>());
  ({ promise: slowBegan, resolve: beginSlow } = Promise.withResolvers<void>());
  session = await openSession({
    key: KEY,
    keep(line) {
      if (failure !== null) throw failure;
      lines.push(line);
    },
  });
});
afterEach(async () => {
  endSlow();
  for (const close of closing.splice(0)) await close();
});

/** The tools of every server here: `add` adds, `fail` fails, `slow` waits for `ended`. */
async function run(
  name: string,
  given: JsonObject = {},
): Promise<{ content: { type: 'text'; text: string }[]; _meta?: JsonObject }> {
  if (name === 'fail') throw new Error('It failed.');
  if (name === 'slow') {
    beginSlow();
    await ended;
  }
  const text = String(Number(given['a']) + Number(given['b']));
  return { content: [{ type: 'text', text }], _meta: { own: 1 } };
}

const NAMES = ['add', 'fail', 'slow'];
const SCHEMA = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } as const;

/** What a test needs of either client. */
interface Caller {
  callTool(
    call: { name: string; arguments: JsonObject },
    options?: { signal?: AbortSignal },
  ): Promise<JsonObject>;
}

async function second(server: McpServer | Server): Promise<Caller> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(theirs);
  closing.push(() => client.close());
  return { callTool: async (call, options) => (await client.callTool(call, options)) as JsonObject };
}

async function first(server: FirstMcpServer | FirstServer): Promise<Caller> {
  const [ours, theirs] = FirstTransport.createLinkedPair();
  await server.connect(ours);
  const client = new FirstClient({ name: 'test', version: '1' });
  await client.connect(theirs);
  closing.push(() => client.close());
  return {
    callTool: async (call, options) => (await client.callTool(call, undefined, options)) as JsonObject,
  };
}

function secondServer(): McpServer {
  const server = new McpServer(INFO);
  for (const name of NAMES) {
    server.registerTool(name, { inputSchema: fromJsonSchema(SCHEMA) }, (given) =>
      run(name, given as JsonObject),
    );
  }
  return server;
}

const servers: Record<string, () => Promise<Caller>> = {
  'McpServer of @modelcontextprotocol/server': () => second(recordTools(secondServer(), session)),
  'Server of @modelcontextprotocol/server': () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/call', ({ params }) => run(params.name, params.arguments as JsonObject));
    return second(recordTools(server, session));
  },
  'Server of @modelcontextprotocol/sdk': () => {
    const server = new FirstServer(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
      run(params.name, params.arguments as JsonObject),
    );
    return first(recordTools(server, session));
  },
};

const calls = () => lines.map((line) => JSON.parse(line)).filter(({ call }) => call.kind === 'tool');

describe.each(Object.entries(servers))('%s', (_name, connect) => {
  it('records each call, and its result carries the receipt', async () => {
    const client = await connect();
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    const [receipt] = calls();
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '3' }],
      _meta: { own: 1, 'tallystick/receipt': receipt },
    });
    expect(receipt.call).toMatchObject({
      tool: 'add',
      outcome: 'completed',
      server: { ...INFO, transport: 'stdio', identity_sha256: null },
    });
    const hash = (part: 'arguments' | 'result', json: JsonValue) =>
      saltedHash(saltOf(session.salt, '1', part), { json });
    expect(receipt.request.hash).toBe(hash('arguments', { a: 1, b: 2 }));
    const { 'tallystick/receipt': _receipt, ..._meta } = result['_meta'] as JsonObject;
    expect(receipt.response.hash).toBe(hash('result', { ...result, _meta }));
    await session.close();
    const { keyId } = await createSigner(KEY);
    const verdict = await verifySession(`${lines.join('\n')}\n`, { now: Date.now(), key: keyId });
    expect(verdict).toMatchObject({ valid: true, trusted: true, state: 'closed', count: 3 });
  });

  it('numbers calls at the same time, and records one that fails', async () => {
    const client = await connect();
    const answers = await Promise.allSettled(
      ['add', 'fail', 'add'].map((name) => client.callTool({ name, arguments: { a: 1, b: 1 } })),
    );
    expect(answers[0]).toMatchObject({ status: 'fulfilled' });
    expect(new Set(calls().map(({ call }) => call.outcome))).toEqual(new Set(['completed', 'error']));
    const verdict = await verifySession(`${lines.join('\n')}\n`, { now: Date.now() });
    expect(verdict).toMatchObject({ valid: true, count: 4 });
  });

  it('records a call that its client cancels', async () => {
    const client = await connect();
    const { signal, abort } = aborter();
    const answer = client.callTool({ name: 'slow', arguments: {} }, { signal });
    await slowBegan;
    abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await expect.poll(() => calls().map(({ call }) => call.outcome)).toEqual(['cancelled']);
    expect(calls()[0].response.hash).toBe(null);
  });

  it('passes no result whose receipt can’t be kept', async () => {
    const client = await connect();
    failure = new Error('The disk is full.');
    await expect(client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).rejects.toThrow(
      'The result could not be recorded, so it is withheld: The disk is full.',
    );
    await expect(session.close()).rejects.toThrow('The disk is full.');
    expect(calls()).toEqual([]);
  });

  it('makes no call that can’t be noted', async () => {
    const client = await connect();
    await session.close();
    await expect(client.callTool({ name: 'slow', arguments: {} })).rejects.toThrow('so it was not made');
  });
});

function aborter(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

it('records tools of the first SDK’s McpServer', async () => {
  const server = new FirstMcpServer(INFO);
  server.registerTool('add', {}, () => run('add', { a: 2, b: 2 }));
  const client = await first(recordTools(server, session));
  expect(await client.callTool({ name: 'add', arguments: {} })).toMatchObject({ content: [{ text: '4' }] });
  expect(calls()).toHaveLength(1);
});

it.each(['legacy', { pin: '2026-07-28' }] as const)(
  'records calls over HTTP, a server a request: %o',
  async (mode) => {
    const handler = createMcpHandler(() => recordTools(secondServer(), session));
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const fetch = (input: URL | string, init?: RequestInit): Promise<Response> =>
      handler.fetch(new Request(input, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('http://mcp.test/mcp'), { fetch }));
    closing.push(() => client.close());
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    const [receipt] = calls();
    expect(result).toMatchObject({ _meta: { 'tallystick/receipt': receipt } });
    expect(receipt.call.server).toMatchObject({ ...INFO, transport: 'http' });
  },
);

it('lives on when a call that can’t be noted is cancelled at once', async () => {
  const server = recordTools(secondServer(), session);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await session.close();
  const answered = Promise.withResolvers<unknown>();
  Object.assign(theirs, { onmessage: (message: unknown) => answered.resolve(message) });
  await theirs.start();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const params = { requestId: 1 };
  await Promise.all([
    theirs.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } }),
    theirs.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }),
  ]);
  expect(await answered.promise).toMatchObject({ id: 1, error: { code: -32_603 } });
  await new Promise((done) => setImmediate(done));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it('does not make a call with the id of one that is not answered, and records that one with its own arguments', async () => {
  const server = recordTools(secondServer(), session);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const answers: JsonObject[] = [];
  Object.assign(theirs, { onmessage: (message: JsonObject) => void answers.push(message) });
  await theirs.start();
  const call = (name: string, given: JsonObject) =>
    theirs.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
  await call('slow', { a: 1, b: 1 });
  await slowBegan;
  await call('add', { a: 2, b: 2 });
  await expect.poll(() => answers).toMatchObject([{ id: 1, error: { code: -32_600 } }]);
  endSlow();
  await expect.poll(() => answers[1]).toMatchObject({ id: 1, result: { content: [{ text: '2' }] } });
  const [receipt, ...others] = calls();
  expect(others).toEqual([]);
  expect(receipt.call).toMatchObject({ tool: 'slow', outcome: 'completed' });
  expect(receipt.request.hash).toBe(
    saltedHash(saltOf(session.salt, '1', 'arguments'), { json: { a: 1, b: 1 } }),
  );
});

it('leaves messages that call no tool as they are', async () => {
  const server = recordTools(secondServer(), session);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(theirs);
  closing.push(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
  expect(lines).toHaveLength(1);
});
