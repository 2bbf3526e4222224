import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { JsonValue } from '@tallystick/core';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../test/frame.ts';
import { type Listening, listen } from '../app/listen.ts';
import { bodyChunks, readJson } from './body.ts';
import type { AppEnv } from './context.ts';
import { toProblem } from './problem.ts';

const LIMIT = 64;
/** Small enough for a test to wait for: what is sent at once takes far less. */
const LIMITS = { bytes: LIMIT, stallMs: 300, wholeMs: 900, streamMs: 900 };

/** Each code that a request was refused with. */
const refused = new EventEmitter<{ refused: [code: string] }>();

const app = new Hono<AppEnv>()
  .post('/', async (c) => c.json((await readJson(c, LIMITS)).json))
  .post('/stream', async (c) => {
    let length = 0;
    for await (const chunk of bodyChunks(c, LIMITS)) length += chunk.length;
    return c.text(`${length} bytes`);
  })
  .onError((error, c) => {
    const { code } = toProblem(error, { receiptsUrl: '' });
    refused.emit('refused', code);
    return c.text(code, 200, { connection: 'close' });
  });

const big = JSON.stringify('x'.repeat(LIMIT));
const exact = JSON.stringify('x'.repeat(LIMIT - 2));

function stream(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

describe('without a socket', () => {
  const ask = async (init: RequestInit): Promise<JsonValue> => {
    const answer = await app.request('/', init);
    return answer.headers.get('content-type')?.startsWith('application/json')
      ? ((await answer.json()) as JsonValue)
      : answer.text();
  };
  const typed = (type: string): RequestInit => post({ a: 1 }, { 'content-type': type });

  it.each<[string, RequestInit, JsonValue]>([
    ['JSON', post({ a: 1 }), { a: 1 }],
    ['JSON with a charset', typed('application/json; charset=utf-8'), { a: 1 }],
    ['JSON in capitals', typed('Application/JSON'), { a: 1 }],
    ['+json', typed('application/vnd.svc+json'), { a: 1 }],
    ['text', typed('text/plain'), 'unsupported_media_type'],
    ['jsonp', typed('application/jsonp'), 'unsupported_media_type'],
    ['no type', { method: 'POST', body: new Uint8Array(2) }, 'unsupported_media_type'],
    ['gzip', post('{}', { 'content-encoding': 'gzip' }), 'unsupported_media_type'],
    ['nothing', post(''), 'json_empty'],
    ['not JSON', post('{'), 'json_syntax'],
    ['a member twice', post('{"a":1,"a":2}'), 'json_duplicate_member'],
    ['just the limit', post(exact), 'x'.repeat(LIMIT - 2)],
    ['past the limit', post(big), 'body_too_large'],
    ['a declared length past the limit', post('{}', { 'content-length': '65' }), 'body_too_large'],
  ])('%s', async (_, init, expected) => {
    expect(await ask(init)).toEqual(expected);
  });

  it('stops reading a stream at the limit, whatever length it declares', async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(32));
      },
    });
    const headers = { 'content-type': 'application/json', 'content-length': '2' };
    expect(await ask({ method: 'POST', body: endless, duplex: 'half', headers } as RequestInit)).toBe(
      'body_too_large',
    );
    expect(pulled).toBeLessThan(6);
  });

  it('joins what comes in pieces', async () => {
    const init = {
      method: 'POST',
      body: stream('{"a"', ':', '"é"}'),
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    };
    expect(await ask(init as RequestInit)).toEqual({ a: 'é' });
  });
});

describe('on a socket', () => {
  let server: Listening;
  beforeAll(async () => {
    server = await listen({
      host: '127.0.0.1',
      port: 0,
      open: async () => ({ fetch: app.fetch, close: async () => {} }),
    });
  });
  afterAll(() => server.close());

  /** Writes the text as it is and gives back everything that comes until the other end closes. */
  function raw(...parts: string[]): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect(server.address.port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answer += String(text);
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
    for (const part of parts) socket.write(part);
    return promise;
  }

  const head = (...lines: string[]): string =>
    [
      'POST / HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Connection: close',
      ...lines,
      '',
      '',
    ].join('\r\n');
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  it('reads a body of a declared length', async () => {
    expect(await raw(head('Content-Length: 7'), '{"a":1}')).toMatch(/\{"a":1\}\r\n0\r\n\r\n$/);
  });

  it('reads a chunked body', async () => {
    expect(await raw(head('Transfer-Encoding: chunked'), chunk('{"a"'), chunk(':1}'), chunk(''))).toMatch(
      /\{"a":1\}/,
    );
  });

  it('refuses a chunked body past the limit, and still says so', async () => {
    const answer = await raw(head('Transfer-Encoding: chunked'), chunk(big), chunk(big), chunk(''));
    expect(answer).toMatch(/body_too_large/);
  });

  it('refuses a declared length past the limit before a byte of it has come', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(server.address.port, '127.0.0.1').on('data', (data) => resolve(String(data)));
    socket.write(head('Content-Length: 1000000'));
    expect(await promise).toMatch(/body_too_large/);
    socket.destroy();
  });

  it('says 100 when it begins to read, and not before it refuses', async () => {
    const expecting = (length: number): string => head(`Content-Length: ${length}`, 'Expect: 100-continue');
    expect(await raw(expecting(7), '{"a":1}')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
    expect(await raw(expecting(3_000_000_000))).toMatch(/^HTTP\/1\.1 200 [^]*body_too_large/);
  });

  /** Sends the head, then `bytes` one by one, until the answer has come. */
  async function dribble(path: string, bytes: string): Promise<string> {
    const socket = connect(server.address.port, '127.0.0.1').setEncoding('utf8');
    socket.write(head('Content-Length: 60').replace('POST /', `POST ${path}`));
    const answer = once(socket, 'data');
    const sending = (async () => {
      for (const byte of bytes) {
        await setTimeout(100);
        if (socket.writable) socket.write(byte);
      }
    })();
    const [text] = (await answer) as [string];
    socket.destroy();
    await sending;
    return text;
  }

  it.each(['/', '/stream'])('gives up a body that stalls: %s', async (path) => {
    expect(await dribble(path, '')).toMatch(/request_timeout/);
    expect(await dribble(path, '[1')).toMatch(/request_timeout/);
  });

  it.each(['/', '/stream'])(
    'gives up a body that takes too long, though it never stalls: %s',
    async (path) => {
      expect(await dribble(path, '[12345678901234567890')).toMatch(/request_timeout/);
    },
  );

  it.each(['/', '/stream'])('a client that hangs up has left, which is no fault: %s', async (path) => {
    const code = once(refused, 'refused');
    const socket = connect(server.address.port, '127.0.0.1');
    socket.write(head('Content-Length: 60').replace('POST /', `POST ${path}`));
    socket.end('[1');
    expect(await code).toEqual(['client_closed']);
  });
});

describe('bodyChunks', () => {
  it('gives the event loop a turn after each chunk, though all are there already', async () => {
    let turns = 0;
    const turnsAt: number[] = [];
    const chunked = new Hono<AppEnv>().post('/', async (c) => {
      let ticking = setImmediate(function tick() {
        turns += 1;
        ticking = setImmediate(tick);
      });
      for await (const chunk of bodyChunks(c, LIMITS)) turnsAt.push(turns * chunk.length);
      clearImmediate(ticking);
      return c.text('');
    });
    const init = { method: 'POST', body: stream('a', 'b', 'c', 'd'), duplex: 'half' };
    await chunked.request('/', init);
    expect(turnsAt).toHaveLength(4);
    expect(new Set(turnsAt).size).toBe(4);
  });
});
