import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { post, serve, tally, temporaryFolder } from './process.ts';

const text = async (url: string): Promise<string> => (await fetch(url)).text();
/** The service's own issuer record. */
async function recordAt(url: string): Promise<string> {
  const { alsoKnownAs } = JSON.parse(await text(`${url}/.well-known/did.json`));
  return text(`${url}/.well-known/issuers/${alsoKnownAs[0]}.json`);
}

describe('a first start', () => {
  it('makes a data directory that only its owner reads, and says in a line that it is ready', async () => {
    const dataDir = join(temporaryFolder(), 'new', 'data');
    const service = await serve({ TALLY_DATA_DIR: dataDir });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'keyring.json')).mode & 0o777).toBe(0o600);
    const { code, stdout, stderr } = await service.kill('SIGTERM');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/development mode/);
  });

  it('by two processes at the same moment ends with one set of keys, and nothing signed is lost', async () => {
    for (let round = 0; round < 3; round++) {
      // A development chain has one process.
      const env = { TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off' };
      const both = await Promise.all([serve(env), serve(env)]);
      const receipts = await Promise.all(
        both.map(({ url }) => post(`${url}/v1/receipt/emit`, { input: 'x' })),
      );
      const [one, other] = await Promise.all(both.map(({ url }) => recordAt(url)));
      expect(other).toBe(one);
      const trust = await Promise.all(both.map(({ url }) => text(`${url}/.well-known/trust.json`)));
      expect(trust[1]).toBe(trust[0]);
      for (const { url } of both) {
        for (const receipt of receipts) {
          const verdict = JSON.parse((await post(`${url}/v1/receipt/verify`, receipt.text)).text);
          expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
        }
      }
      for (const service of both) expect((await service.kill('SIGTERM')).code).toBe(0);
    }
  });
});

/** Says at the end of the process which parts of Node it had loaded. */
const SAYS_PARTS = `process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))`;

it('loads neither Node’s fetch nor TLS to mint, to verify, to show a page and to say how it is', async () => {
  const service = await serve({
    TALLY_DEVNET: 'off',
    NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(SAYS_PARTS)}"`,
  });
  const receipt = await post(`${service.url}/v1/receipt/emit`, { input: 'x' });
  await post(`${service.url}/v1/receipts/verify`, receipt.text);
  await text(`${service.url}/verify`);
  expect(JSON.parse(await text(`${service.url}/status`))).toHaveProperty('endpoints');
  const { code, stderr } = await service.kill('SIGTERM');
  expect(code).toBe(0);
  const loaded = stderr.split('\n');
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((part) => /undici|http2|NativeModule (?:https|tls)$/.test(part))).toEqual([]);
});

describe('an end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets a request in flight finish, and takes no new ones',
    async (signal) => {
      const dataDir = temporaryFolder();
      const service = await serve({ TALLY_DATA_DIR: dataDir });
      const { port } = new URL(service.url);
      const body = JSON.stringify({ input: 'slow', purpose: 'p' });
      const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
      let answer = '';
      socket.on('data', (chunk: string) => {
        answer += chunk;
      });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const head = `POST /v1/receipt/free HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      // The interim answer says that the server has begun with the request.
      socket.write(`${head}Expect: 100-continue\r\n\r\n`);
      await new Promise((resolve) => socket.once('data', resolve));
      socket.write(body.slice(0, 10));
      const ended = service.kill(signal);
      while (
        await fetch(`${service.url}/healthz`).then(
          () => true,
          () => false,
        )
      );
      socket.write(body.slice(10));
      expect((await ended).code).toBe(0);
      await closed;
      expect(answer).toMatch(/HTTP\/1\.1 200/);
      const receipt = answer.slice(answer.lastIndexOf('\r\n\r\n') + 4);
      const again = await serve({ TALLY_DATA_DIR: dataDir });
      expect(await text(`${again.url}/v1/receipt/${JSON.parse(receipt).receipt_id}`)).toBe(receipt);
      await again.kill('SIGTERM');
    },
  );
});

describe('a start that can’t be', () => {
  it('a port that is taken is told in one line', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await tally(['serve'], {
      PORT: String(port),
      TALLY_DATA_DIR: temporaryFolder(),
    });
    server.close();
    expect(code).not.toBe(0);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(stderr).not.toMatch(/ at .*:\d+:\d+/);
  });

  it('production with nothing set names every variable that is missing, at once', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const { code, stdout, stderr } = await tally(['serve'], {
      NODE_ENV: 'production',
      TALLY_DATA_DIR: dataDir,
    });
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    for (const name of [
      'TALLY_HANDLE',
      'TALLY_KEYRING',
      'TALLY_RECEIPTS_URL',
      'TALLY_API_URL',
      'TALLY_SITE_URL',
      'TALLY_CHAIN_ID',
      'TALLY_CHAIN_NETWORK',
      'TALLY_CHAIN_RPC_URL',
      'TALLY_POSTING_KEY_FILE',
    ]) {
      expect(stderr).toContain(`${name} is not set`);
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each<[string, string, string]>([
    ['a keyring that is cut short', 'keyring.json', '{"type":"tally-keyring-v1","doc'],
    ['a keyring of something else', 'keyring.json', '{}'],
    ['a database that is none', 'tally.db', 'This is no database. '.repeat(100)],
    ['a posting key that is none', 'posting.key', 'x'],
  ])('%s is named with its path', async (_, name, contents) => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, name), contents, { mode: 0o600 });
    const { code, stderr } = await tally(['serve'], { PORT: '0', TALLY_DATA_DIR: dataDir });
    expect(code).not.toBe(0);
    expect(stderr).toContain(join(dataDir, name));
    expect(stderr).not.toMatch(/\.ts:\d+/);
    expect(readFileSync(join(dataDir, name), 'utf8')).toBe(contents);
  });

  it('a data directory that can’t be made or written is named, before anything else is tried', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await tally(['serve'], { PORT: '0', TALLY_DATA_DIR: join(file, 'data') });
    expect(code).not.toBe(0);
    expect(stderr).toContain(`The data directory ${join(file, 'data')} cannot be written (ENOTDIR)`);
  });

  it.each([
    ['a keyring that can’t be opened', { TALLY_KEYRING_PASSPHRASE_FILE: '/nowhere/passphrase' }, /nowhere/],
    [
      'a database that is not there',
      { TALLY_DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/x' },
      /database/i,
    ],
    ['an invalid value', { PORT: '99999' }, /PORT/],
  ])('%s is told without a stack, and without secrets', async (_, env, message) => {
    const { code, stderr } = await tally(['serve'], { PORT: '0', TALLY_DATA_DIR: temporaryFolder(), ...env });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/secret|\.ts:\d+/);
  });
});
