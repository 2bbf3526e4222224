import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Env, post, residentMiB } from '../process.ts';
import { buildRootfs, Container } from './container.ts';

/** What an image may take, unpacked. */
const MAX_BYTES = 250e6;
const USER = 65_532;

let rootfs = '';
beforeAll(() => {
  rootfs = buildRootfs();
}, 600_000);

/** Paths in the image for which `find` says yes. */
const inside = (...tests: string[]): string[] =>
  execFileSync('find', [rootfs, ...tests, '-printf', '/%P\\n'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

describe('what the image holds', () => {
  it('takes less than 250 MB', async ({ annotate }) => {
    const bytes = Number(
      execFileSync('du', ['--summarize', '--block-size=1', rootfs], { encoding: 'utf8' }).split('\t')[0],
    );
    await annotate(`The image takes ${(bytes / 1e6).toFixed(1)} MB.`);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  it('is the service: no shell, no package manager, no compiler, no development chain, no sources', () => {
    const programs = inside('-path', '*bin/*', '-type', 'f', '-not', '-path', '*/opt/*');
    expect(programs.toSorted()).toEqual(['/usr/bin/node', '/usr/bin/tally']);
    const scoped = (scope: string): string[] =>
      readdirSync(join(rootfs, 'opt/tallystick/node_modules', scope));
    for (const absent of ['@foundry-rs', '@types', 'typescript', 'vitest', 'esbuild', 'npm'])
      expect(scoped('')).not.toContain(absent);
    expect(scoped('@tallystick')).toContain('server');
    expect(inside('-name', '*.ts')).toEqual([]);
  });

  it('has nothing that gives its user more rights, and nothing that its user may change', () => {
    expect(inside('-type', 'f', '-perm', '/6000')).toEqual([]);
    expect(inside('-user', String(USER))).toEqual(['/var/lib/tallystick']);
    expect(inside('-perm', '-o=w', '-not', '-type', 'l').toSorted()).toEqual([
      '/tmp',
      '/var/lock',
      '/var/tmp',
    ]);
  });
});

describe('the image, run read-only as its own user', () => {
  it('serves in production from keys that it made itself, until SIGTERM', async ({ annotate }) => {
    const at = '/var/lib/tallystick';
    const env: Env = {
      PORT: '0',
      TALLY_HANDLE: 'acme',
      TALLY_KEYRING: `${at}/keyring.json`,
      TALLY_POSTING_KEY_FILE: `${at}/posting.key`,
      TALLY_RECEIPTS_URL: 'https://receipts.example.com',
      TALLY_API_URL: 'https://api.example.com',
      TALLY_SITE_URL: 'https://example.com',
      TALLY_CHAIN_ID: '8453',
      TALLY_CHAIN_NETWORK: 'base',
      // Nobody answers there: the log waits, and all else serves.
      TALLY_CHAIN_RPC_URL: 'http://127.0.0.1:9',
      TALLY_HOME: `${at}/home`,
    };
    const container = new Container(rootfs, env);
    const put = (name: string, text: string): void => {
      writeFileSync(join(container.data, name), text, { mode: 0o600 });
      chownSync(join(container.data, name), USER, USER);
    };
    const tally = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await container.start(args).ended;
      expect(code, stderr).toBe(0);
      return stdout;
    };
    await tally('keys', 'init', '--root-out', `${at}/root.json`);
    put('posting.key', randomBytes(32).toString('hex'));
    // As Kubernetes gives the files of a Secret to a process, by the mode in the chart.
    for (const name of ['keyring.json', 'posting.key']) {
      chownSync(join(container.data, name), 0, USER);
      chmodSync(join(container.data, name), 0o440);
    }

    const began = performance.now();
    const service = container.start();
    const url = await service.ready();
    const took = performance.now() - began;
    put('draft.json', await tally('trust', 'draft'));
    put('trust.json', await tally('trust', 'sign', `${at}/draft.json`, '--root-keyring', `${at}/root.json`));
    await tally('trust', 'publish', `${at}/trust.json`);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);

    const receipt = await post(`${url}/v1/receipt/free`, { input: 'x', purpose: 'p' });
    expect(receipt.status).toBe(200);
    const verdict = await post(`${url}/v1/receipt/verify`, receipt.text);
    expect(JSON.parse(verdict.text)).toMatchObject({ valid: true, issuer: { trusted: true } });
    put('receipt.json', receipt.text);
    await tally('trust', 'fetch', url);
    expect(await tally('verify', `${at}/receipt.json`)).toContain('Valid: did:svc:acme');

    const health = new Container(rootfs, { ...env, PORT: new URL(url).port });
    expect((await health.start('healthcheck').ended).code).toBe(0);
    await annotate(
      `Ready after ${(took / 1000).toFixed(2)} s; ${residentMiB(service.pid()).toFixed(0)} MiB resident after a few requests.`,
    );
    const ended = await service.kill('SIGTERM');
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(ended.stderr).not.toContain('EROFS');
    expect((await health.start('healthcheck').ended).code).toBe(1);
  });

  it('ends any command at SIGTERM, though the kernel spares the first process', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const command = new Container(rootfs).start(['trust', 'fetch', `http://127.0.0.1:${port}`]);
    const [socket] = (await once(silent, 'connection')) as [Socket];
    expect(await command.kill('SIGTERM')).toMatchObject({ code: 143 });
    socket.destroy();
    silent.close();
  });

  it('ends the service at SIGTERM while it still starts', async () => {
    const silent = createServer();
    const free = createServer();
    for (const server of [silent, free])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const portOf = (server: typeof free): number => (server.address() as AddressInfo).port;
    const port = portOf(free);
    await new Promise((resolve) => free.close(resolve));
    const service = new Container(rootfs, {
      NODE_ENV: 'development',
      TALLY_DEVNET: 'off',
      PORT: String(port),
      TALLY_DATABASE_URL: `postgres://tally@127.0.0.1:${portOf(silent)}/tally`,
      TALLY_DATABASE_CONNECT_TIMEOUT_MS: '120000',
    }).start();
    const health = (): Promise<number> =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(health).toBe(200);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, stdout: '' });
    silent.close();
  });
});
