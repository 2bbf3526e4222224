import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { ListenError, listen, type Served } from './listen.ts';

const served: Served = { fetch: () => new Response('ok'), close: async () => {} };

describe('listen', () => {
  it('opens the service with the real address, and lets early requests wait for it', async () => {
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
    const early = fetch(`http://127.0.0.1:${await opened.promise}/`);
    gate.resolve();
    expect(await (await early).text()).toBe('ok');
    const { close, closed } = await listening;
    await close();
    await closed;
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

  async function start() {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../test/listen-child.ts', import.meta.url))],
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
