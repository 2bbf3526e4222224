import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect, it } from 'vitest';
import { ListenError, type Listening, listen } from './listen.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-socket-'));
const path = join(folder, 'http.sock');
const open: Listening[] = [];
afterEach(() => Promise.all(open.splice(0).map(({ close }) => close())));
afterAll(() => rmSync(folder, { recursive: true }));

async function start(socketMode?: number): Promise<Listening> {
  const listening = await listen({
    host: `unix:${path}`,
    port: 0,
    ...(socketMode !== undefined && { socketMode }),
    open: async () => ({ fetch: () => new Response('here'), close: async () => {} }),
  });
  open.push(listening);
  return listening;
}

function ask(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get({ socketPath: path, path: '/' }, (response) => resolve(text(response))).on('error', reject);
  return promise;
}

it('answers through a socket file of the mode that was asked for, and removes it at the end', async () => {
  const { close } = await start(0o600);
  expect(await ask()).toBe('here');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await close();
  expect(existsSync(path)).toBe(false);
});

it('lets the group connect by default', async () => {
  await start();
  expect(statSync(path).mode & 0o777).toBe(0o660);
});

it('refuses a path on which another process listens, and leaves that one alone', async () => {
  await start();
  await expect(start()).rejects.toThrow(ListenError);
  expect(await ask()).toBe('here');
});

it('takes the place of a socket file that nobody listens on', async () => {
  await leaveBehind();
  expect(statSync(path).isSocket()).toBe(true);
  await start();
  expect(await ask()).toBe('here');
});

it('never removes a file that is no socket', async () => {
  const { close } = await start();
  await close();
  writeFileSync(path, 'precious');
  await expect(start()).rejects.toThrow(/Cannot listen on .*http\.sock/);
  expect(statSync(path).size).toBe('precious'.length);
  rmSync(path);
});

/** A socket file as a killed process leaves it: of a process that is killed while it listens. */
async function leaveBehind(): Promise<void> {
  const child = spawn(process.execPath, [
    '-e',
    `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('listens'))`,
  ]);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
}
