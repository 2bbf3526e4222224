import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { TALLY, temporaryFolder } from './process.ts';

/** Starts `tally serve` as systemd does: with sockets from descriptor 3 on, and its own process id in the environment. */
function serveOn(sockets: readonly Server[]) {
  const handles = sockets as unknown as readonly { _handle: { fd: number } }[];
  const fds = handles.map(({ _handle: { fd } }) => fd);
  const activate = `LISTEN_PID=$$ LISTEN_FDS=${fds.length} exec "$@"`;
  const child = spawn('sh', ['-c', activate, 'sh', process.execPath, TALLY, 'serve'], {
    // The port is that of the socket, whatever is set.
    env: { PATH: process.env.PATH, PORT: '1', TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off' },
    stdio: ['ignore', 'pipe', 'pipe', ...fds],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  // What is left of the sockets is the service's.
  for (const socket of sockets) socket.close();
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => text(stream as Readable));
  return { child, exited: once(child, 'exit'), stdout, stderr };
}

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('the service takes connections from the socket that systemd passes, and says its address', async () => {
  const socket = await listening();
  const { port } = socket.address() as AddressInfo;
  const { child, exited, stdout } = serveOn([socket]);
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(await stdout).toContain(`tallystick is ready on ${url}\n`);
});

it('two sockets are refused in a line', async () => {
  const { exited, stderr } = serveOn([await listening(), await listening()]);
  expect(await stderr).toContain('LISTEN_FDS is "2", but the service takes one socket');
  expect((await exited)[0]).not.toBe(0);
});
