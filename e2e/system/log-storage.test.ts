import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bucketStorage, makePublicBucket } from '../../packages/log/test/bucket.ts';
import { storageSuite } from '../../packages/log/test/storage-suite.ts';
import { freePort } from '../../packages/server/test/free-port.ts';
import { buildGoClient, runGoClient } from '../go-client.ts';
import { createKey, fsck, type Key, Placed, SOUND, statusOf, until } from '../log-client.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from '../process.ts';
import { goProgram, ownGoProgram } from './go-modules.ts';
import { startVersitygw, type Versitygw } from './s3-server.ts';

const BUCKET = 'localhost';

let s3: Versitygw;
let tessera: string;
let torchwood: string;
const go = buildGoClient(temporaryFolder());
beforeAll(async () => {
  s3 = await startVersitygw(temporaryFolder());
  await makePublicBucket(s3, BUCKET);
  tessera = goProgram('github.com/transparency-dev/tessera/cmd/fsck', 'v1.0.4');
  torchwood = ownGoProgram('tlog-read');
}, 900_000);
afterAll(() => s3.stop());

storageSuite('a bucket', async () => bucketStorage(s3, BUCKET));

interface StoredLog {
  readonly env: Env;
  /** URL at which anybody can read the stored files. */
  readonly url: string;
  readonly key: Key;
  readonly placed: Placed;
  readonly verifierKey: string;
  service: Served;
}

async function newLog(storage: Env, url: string): Promise<StoredLog> {
  const plain = { TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off', TALLY_LOG_ORIGIN: 'log.example' };
  const env = { ...plain, ...storage };
  const before = await serve(plain);
  const key = await createKey('scale', plain);
  const placed = new Placed('stored');
  // They are there before the storage is.
  await placed.place(before.url, key, 700);
  const verifierKey = (await statusOf(before.url)).verifier_key;
  await before.kill('SIGTERM');
  return { env, url, key, placed, verifierKey, service: await serve(env) };
}

const sizeIn = (note: string): number => Number(note.split('\n')[1]);

/** Waits until the published checkpoint has all that was placed. */
const untilPublished = ({ url, placed }: Pick<StoredLog, 'url' | 'placed'>): Promise<number> =>
  until(
    async () => sizeIn(await (await fetch(`${url}/checkpoint`)).text()),
    (size) => size >= placed.answered,
  );

/** Has Tessera's fsck read a whole log, and returns its size. */
function checkByTessera(url: string, verifierKey: string): number {
  const key = join(temporaryFolder(), 'key');
  writeFileSync(key, verifierKey);
  const args = [`--storage_url=${url}/`, `--public_key=${key}`, '--ui=false', '-v=1', '--logtostderr'];
  // Its status is 0 whatever it finds, and it hangs at the first entry that is wrong.
  const { stderr } = spawnSync(tessera, args, { encoding: 'utf8', timeout: 120_000 });
  const [, size] = /Successfully fsck'd log with size (\d+) /.exec(stderr) ?? [];
  if (size === undefined) throw new Error(stderr);
  return Number(size);
}

/** Reads the whole log with torchwood. */
function readByTorchwood(url: string, verifierKey: string): { size: number; sha256: string } {
  const { status, stdout, stderr } = spawnSync(torchwood, [url, verifierKey], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function killUnderLoad(log: StoredLog, answers: number): Promise<void> {
  let left = answers;
  const enough = Promise.withResolvers<void>();
  const writer = async (): Promise<void> => {
    for (;;) {
      await log.placed.placeSome(log.service.url, log.key, 50);
      left -= 1;
      if (left === 0) enough.resolve();
    }
  };
  const broken = Promise.allSettled([writer(), writer()]);
  await enough.promise;
  await log.service.kill('SIGKILL');
  await broken;
}

describe('a log whose files are in a bucket', () => {
  let log: StoredLog;
  beforeAll(async () => {
    const storage = {
      TALLY_LOG_STORAGE: `s3://${BUCKET}/acme/log`,
      AWS_ENDPOINT_URL_S3: s3.endpoint,
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    };
    log = await newLog(storage, `${s3.website}/acme/log`);
    await untilPublished(log);
  });

  it('is read from its website by Go, Tessera and torchwood, and is whole after a kill', async () => {
    await killUnderLoad(log, 40);
    const { size } = await runGoClient(go.path, { log: log.url, verifier_key: log.verifierKey, entries: [] });
    expect(checkByTessera(log.url, log.verifierKey)).toBe(size);
    expect(readByTorchwood(log.url, log.verifierKey).size).toBe(size);

    log.service = await serve(log.env);
    await log.placed.repeat(log.service.url, log.key);
    await untilPublished(log);
    const { hashes } = log.placed;
    expect(checkByTessera(log.url, log.verifierKey)).toBe(hashes.length);
    const sha256 = createHash('sha256').update(Buffer.concat(hashes)).digest('hex');
    expect(readByTorchwood(log.url, log.verifierKey)).toEqual({ size: hashes.length, sha256 });
    expect(readByTorchwood(log.service.url, log.verifierKey)).toEqual({ size: hashes.length, sha256 });
  });

  it('may be cached for ever, but for its checkpoint', async () => {
    const cachingOf = async (path: string): Promise<string | null> =>
      (await fetch(`${log.url}/${path}`)).headers.get('cache-control');
    for (const path of ['tile/0/000', 'tile/entries/001']) {
      expect(await cachingOf(path)).toBe('public, max-age=31536000, immutable');
    }
    expect(await cachingOf('checkpoint')).toBe('no-cache');
  });

  it('waits for a bucket that is gone for a time', async () => {
    const other = await startVersitygw(temporaryFolder());
    await makePublicBucket(other, BUCKET);
    const env = { ...log.env, TALLY_DATA_DIR: temporaryFolder(), AWS_ENDPOINT_URL_S3: other.endpoint };
    const service = await serve(env);
    const key = await createKey('scale', env);
    const placed = new Placed('waiting');
    await other.stop();
    await placed.place(service.url, key, 10);
    expect(await statusOf(service.url)).toMatchObject({ accepted: 10, tree_size: 0, accepting: 'ok' });
    await other.start();
    await untilPublished({ url: `${other.website}/acme/log`, placed });
    await service.kill('SIGTERM');
    await other.stop();
  });

  it('is checked by tally log fsck', async () => {
    await log.service.kill('SIGTERM');
    expect(await fsck(log.env)).toMatchObject({ ...SOUND, leaves: log.placed.hashes.length });
    const { code, stdout } = await tally(['log', 'fsck', '--json'], {
      ...log.env,
      TALLY_LOG_STORAGE: `s3://${BUCKET}/elsewhere`,
    });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      faults: [{ where: 'checkpoint in the storage', what: 'is missing' }],
    });
  });
});

describe('a log whose files are in a folder', () => {
  const files = join(temporaryFolder(), 'log');
  const storage = pathToFileURL(files).href;
  let log: StoredLog;
  let caddy: ChildProcess;

  beforeAll(async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const guide = readFileSync(new URL('../../docs/operating/log-storage.md', import.meta.url), 'utf8');
    const [, block = ''] = /```caddy\n([\s\S]*?)```/.exec(guide) ?? [];
    const home = temporaryFolder();
    const config = join(home, 'Caddyfile');
    writeFileSync(config, block.replace('log.example.com', url).replace('/srv/tallystick-log', files));
    caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', config], {
      env: { PATH: process.env['PATH'], HOME: home, CADDY_ADMIN: `127.0.0.1:${await freePort()}` },
      stdio: 'ignore',
    });
    log = await newLog({ TALLY_LOG_STORAGE: storage }, url);
    await vi.waitFor(() => untilPublished(log), { timeout: 60_000 });
    await log.service.kill('SIGTERM');
  });
  afterAll(() => caddy.kill('SIGKILL'));

  it('is read by Tessera and torchwood, from the folder and from Caddy set up as the guide says', () => {
    const size = log.placed.answered;
    expect([storage, log.url].map((url) => checkByTessera(url, log.verifierKey))).toEqual([size, size]);
    expect(readByTorchwood(log.url, log.verifierKey).size).toBe(size);
  });

  it('may be cached as in a bucket, and not what is not there yet', async () => {
    const cachingOf = async (path: string): Promise<unknown[]> => {
      const { status, headers } = await fetch(`${log.url}/${path}`);
      return [status, headers.get('cache-control')];
    };
    const immutable = [200, 'public, max-age=31536000, immutable'];
    expect(await cachingOf('tile/0/000')).toEqual(immutable);
    expect(await cachingOf('tile/entries/002.p/188')).toEqual(immutable);
    expect(await cachingOf('tile/0/003')).toEqual([404, null]);
    expect(await cachingOf('checkpoint')).toEqual([200, 'no-cache']);
  });

  it('is not taken for whole once an entry is damaged', () => {
    const path = join(files, 'tile/entries/000');
    writeFileSync(
      path,
      readFileSync(path).map((byte, at) => (at === 40 ? byte ^ 1 : byte)),
    );
    expect(spawnSync(torchwood, [log.url, log.verifierKey])).toMatchObject({ status: 1 });
  });
});
