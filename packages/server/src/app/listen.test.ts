import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { Finished } from '../http/answered.ts';
import { ListenError, listen, type Served } from './listen.ts';

const served: Served = { fetch: () => new Response('ok'), close: async () => {} };

describe('listen', () => {
  it('answers at once, and says that it is starting until the service is open', async () => {
    const opened = Promise.withResolvers<number>();
    const gate = Promise.withResolvers<void>();
    const listening = listen({
      host: '127.0.0.1',
      port: 0,
      open: async ({ port }) => {
        opened.resolve(port);
        await gate.promise;
        return served;
      },
    });
    const at = `http://127.0.0.1:${await opened.promise}`;
    const health = await fetch(`${at}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await fetch(`${at}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'unavailable', checks: { service: 'starting' } });
    const early = await fetch(`${at}/v1/receipt/free`, { method: 'POST', body: '{}' });
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('5');
    expect(early.headers.get('content-type')).toBe('application/problem+json');
    expect(await early.json()).toMatchObject({
      code: 'unavailable',
      instance: `urn:request:${early.headers.get('x-request-id')}`,
    });
    gate.resolve();
    const { close, closed } = await listening;
    expect(await (await fetch(at)).text()).toBe('ok');
    await close();
    await closed;
  });

  it('says that it is not ready for a while before it refuses anything', async () => {
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      lameDuckMs: 5_000,
      open: async () => served,
    });
    const at = `http://127.0.0.1:${address.port}`;
    const closing = close();
    const ready = await fetch(`${at}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', checks: { service: 'shutting down' } },
    ]);
    const answer = await fetch(`${at}/`);
    expect([await answer.text(), answer.headers.get('connection')]).toEqual(['ok', 'close']);
    await closing;
    await expect(fetch(at)).rejects.toThrow('fetch failed');
  });

  it('while it drains, answers a new request on an old connection 503', async () => {
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<number>();
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      open: async () => ({
        async fetch() {
          arrived.resolve();
          await release.promise;
          return new Finished(200, {}, 'done');
        },
        counted: refused.resolve,
        close: async () => {},
      }),
    });
    const socket = connect(address.port, '127.0.0.1').setEncoding('utf8');
    let said = '';
    socket.on('data', (text) => {
      said += text;
    });
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived.promise;
    const closing = close();
    socket.write('GET /second HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await refused.promise).toBe(503);
    release.resolve();
    await Promise.all([closing, once(socket, 'close')]);
    const [, first = '', second = ''] = said.split('HTTP/1.1 ');
    expect(first).toMatch(/^200 [^]*done$/);
    expect(second).toMatch(/^503 [^]*connection: close[^]*"code":"unavailable"/i);
  });

  it('closes the service once, after the last request', async () => {
    const order: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      open: async () => ({
        async fetch() {
          arrived.resolve();
          await release.promise;
          order.push('answered');
          return new Response('ok');
        },
        async close() {
          order.push('closed');
        },
      }),
    });
    const answer = fetch(`http://127.0.0.1:${address.port}/`);
    await arrived.promise;
    const closing = Promise.all([close(), close()]);
    release.resolve();
    expect((await answer).status).toBe(200);
    await closing;
    expect(order).toEqual(['answered', 'closed']);
  });

  it.each([
    ['never said a word', ''],
    ['sent half a head', 'GET / HTTP/1.1\r\nHo'],
    ['sent half a head after a whole request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo'],
  ])('does not wait for a connection that %s', async (_, sent) => {
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      drainMs: 60_000,
      open: async () => served,
    });
    const socket = connect(address.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    socket.write(sent);
    if (sent.includes('x')) await once(socket, 'data');
    else await fetch(`http://127.0.0.1:${address.port}/`);
    const began = performance.now();
    await close();
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('takes a target that is no URL for a path that is not there, while it starts', async () => {
    const answers: Promise<string>[] = [];
    const { close } = await listen({
      host: '127.0.0.1',
      port: 0,
      open: async ({ port }) => {
        const socket = connect(port, '127.0.0.1');
        socket.write('GET // HTTP/1.1\r\nHost: x\r\n\r\n');
        answers.push(text(socket));
        await answers[0];
        return served;
      },
    });
    expect(await answers[0]).toMatch(/^HTTP\/1\.1 503 [^]*"code":"unavailable"/);
    await close();
  });

  it('cuts off what takes longer than it may', async () => {
    const arrived = Promise.withResolvers<void>();
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      drainMs: 1,
      open: async () => ({
        fetch: () => {
          arrived.resolve();
          return new Promise<Response>(() => {});
        },
        close: async () => {},
      }),
    });
    const answer = fetch(`http://127.0.0.1:${address.port}/`).catch(() => 'cut off');
    await arrived.promise;
    await close();
    expect(await answer).toBe('cut off');
  });

  it('cuts what runs too long before it closes the connections', async () => {
    const arrived = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<Response>();
    const { address, close } = await listen({
      host: '127.0.0.1',
      port: 0,
      drainMs: 1,
      open: async () => ({
        fetch: () => {
          arrived.resolve();
          return cut.promise;
        },
        cut: async () => cut.resolve(new Response('cut')),
        close: async () => {},
      }),
    });
    const answer = fetch(`http://127.0.0.1:${address.port}/`);
    await arrived.promise;
    await close();
    expect(await (await answer).text()).toBe('cut');
  });

  it('says in one line that a port is taken', async () => {
    const first = await listen({ host: '127.0.0.1', port: 0, open: async () => served });
    const second = listen({ host: '127.0.0.1', port: first.address.port, open: async () => served });
    await expect(second).rejects.toThrow(ListenError);
    await expect(second).rejects.toThrow(
      `Port ${first.address.port} on 127.0.0.1 is taken by another process`,
    );
    await first.close();
  });

  it('says in one line that an address is not of this machine', async () => {
    const foreign = listen({ host: '192.0.2.1', port: 0, open: async () => served });
    await expect(foreign).rejects.toThrow('192.0.2.1 is not an address of this machine');
  });

  it('lets go of the port when the service does not open', async () => {
    let port = 0;
    const failing = listen({
      host: '127.0.0.1',
      port: 0,
      open: async (address) => {
        port = address.port;
        throw new Error('no database');
      },
    });
    await expect(failing).rejects.toThrow('no database');
    const again = await listen({ host: '127.0.0.1', port, open: async () => served });
    await again.close();
  });
});

describe('signals', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function start(how: readonly string[] = []) {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../../test/listen-child.ts', import.meta.url)), ...how],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    children.push(child);
    const words = createInterface(child.stdout)[Symbol.asyncIterator]();
    const word = async (): Promise<string | undefined> => (await words.next()).value;
    const port = Number(await word());
    return { child, word, port, exited: once(child, 'exit') };
  }

  /** Resolves once nothing accepts connections there any more. */
  async function refused(port: number): Promise<void> {
    for (;;) {
      const socket = connect(port, '127.0.0.1');
      const open = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      if (!open) return;
    }
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets the request in flight finish, then closes',
    async (signal) => {
      const { child, word, port, exited } = await start();
      const answer = fetch(`http://127.0.0.1:${port}/slow`);
      expect(await word()).toBe('slow');
      child.kill(signal);
      await refused(port);
      child.stdin.write('go\n');
      expect(await (await answer).text()).toBe('done');
      expect(await word()).toBe('closed');
      expect(await exited).toEqual([0, null]);
    },
  );

  it('SIGTERM ends a process that is still starting, not by the default that the first process of a container lacks', async () => {
    const { child, exited } = await start(['stuck']);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('a second one ends the process at once', async () => {
    const { child, word, port, exited } = await start();
    const answer = fetch(`http://127.0.0.1:${port}/slow`).catch(() => 'cut off');
    expect(await word()).toBe('slow');
    child.kill('SIGTERM');
    await refused(port);
    child.kill('SIGTERM');
    expect(await exited).toEqual([1, null]);
    expect(await answer).toBe('cut off');
  });
});
