import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseVerifierKey } from '@tallystick/core';
import { followLog } from '@tallystick/log';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGoClient, runGoClient } from './go-client.ts';
import {
  createKey,
  fsck,
  hashOf,
  type Key,
  Placed,
  place,
  SOUND,
  statusOf,
  until,
  untilSigned,
} from './log-client.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from './process.ts';
import { drawing } from './random.ts';

const client = buildGoClient(temporaryFolder());

/** A log without a chain, and the folder that its files go into. */
function newLog(): { plain: Env; env: Env; files: string } {
  const plain = { TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off', TALLY_LOG_ORIGIN: 'log.example' };
  const files = join(temporaryFolder(), 'log');
  return { plain, env: { ...plain, TALLY_LOG_STORAGE: pathToFileURL(files).href }, files };
}

/** A web server of nothing but a folder's files. */
async function serveFiles(folder: string): Promise<{ url: string; close: () => unknown }> {
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, request.url ?? '')));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

const sizeIn = (note: string): number => Number(note.split('\n')[1]);

/** Waits until the checkpoint under a URL has this many leaves. */
const untilPublished = (url: string, size: number): Promise<number> =>
  until(
    async () => sizeIn(await (await fetch(`${url}/checkpoint`)).text()),
    (found) => found >= size,
  );

describe('the files of a log, behind a web server', () => {
  const { plain, env, files } = newLog();
  const placed = new Placed('stored');
  const random = drawing('answers before a kill');
  let web: Awaited<ReturnType<typeof serveFiles>>;
  let key: Key;
  let service: Served;
  let verifierKey: string;
  let seen: string | null = null;

  beforeAll(async () => {
    web = await serveFiles(files);
    const before = await serve(plain);
    key = await createKey('scale', plain);
    await placed.place(before.url, key, 700);
    await untilSigned(before.url, placed.answered);
    verifierKey = (await statusOf(before.url)).verifier_key;
    await before.kill('SIGTERM');
  });
  afterAll(() => web.close());

  /** Reads all of them as strangers do, and that they extend what was read before. Returns the number of leaves. */
  async function read(): Promise<number> {
    const before = seen;
    const load = async (): Promise<string | null> => before;
    const save = async (note: string): Promise<void> => {
      seen = note;
    };
    const vkey = parseVerifierKey(verifierKey);
    const found = await followLog({ fetch, url: web.url, vkey, state: { load, save } });
    expect(found.kind).toBeOneOf(['first', 'unchanged', 'grown']);
    const size = sizeIn(seen ?? '');
    const asked = { log: web.url, verifier_key: verifierKey, entries: [], old_checkpoint: before ?? '' };
    expect(client.missing === null ? (await runGoClient(client.path, asked)).size : size).toBe(size);
    return size;
  }

  it('are all there soon after a start, though the log is older than they', async () => {
    service = await serve(env);
    await untilPublished(web.url, placed.answered);
    expect(await read()).toBe(placed.answered);
    expect(sizeIn(await (await fetch(`${service.url}/checkpoint`)).text())).toBe(placed.answered);
  });

  it('are a whole log whenever the leader is killed, which only grows', async () => {
    for (let round = 0; round < 3; round++) {
      let left = 20 + random.below(100);
      const enough = Promise.withResolvers<void>();
      const writer = async (): Promise<void> => {
        for (;;) {
          await placed.placeSome(service.url, key, 50);
          left -= 1;
          if (left === 0) enough.resolve();
        }
      };
      const broken = Promise.allSettled([writer(), writer()]);
      await enough.promise;
      await service.kill('SIGKILL');
      await broken;
      const leftBehind = await read();
      service = await serve(env);
      await placed.repeat(service.url, key);
      await untilPublished(web.url, placed.answered);
      expect(await read()).toBeGreaterThanOrEqual(leftBehind);
    }
    await service.kill('SIGTERM');
    expect(await fsck(env)).toMatchObject({ ...SOUND, leaves: placed.hashes.length });
  });
});

describe('a log of 300 leaves in a folder', () => {
  const { env, files } = newLog();
  const database = join(env['TALLY_DATA_DIR'] ?? '', 'tally.db');
  const copy = join(temporaryFolder(), 'copy.db');
  let key: Key;
  beforeAll(async () => {
    const service = await serve(env);
    key = await createKey('scale', env);
    await extend(service, 0, 290);
    await tally(['backup', copy], env);
    await extend(service, 290, 300);
    await service.kill('SIGTERM');
  });

  async function extend({ url }: Served, from: number, to: number): Promise<void> {
    await place(
      url,
      key,
      Array.from({ length: to - from }, (_, at) => hashOf(`${from + at}`)),
    );
    await untilPublished(url, to);
  }

  it('is checked by tally log fsck, which names what is damaged or missing there', async () => {
    const sound = await tally(['log', 'fsck'], env);
    expect(sound).toMatchObject({ code: 0, stdout: expect.stringMatching(/ 0 postings, 6 files\. /) });
    const right = readFileSync(join(files, 'tile/0/000'));
    writeFileSync(join(files, 'tile/0/000'), right.toReversed());
    rmSync(join(files, 'tile/entries/001.p/44'));
    const { code, stdout } = await tally(['log', 'fsck', '--json'], env);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      ok: false,
      files: 6,
      faults: [
        { where: 'tile/0/000 in the storage', what: 'is not what the leaves make' },
        { where: 'tile/entries/001.p/44 in the storage', what: 'is missing' },
      ],
    });
    // The repair of docs/operating/log-storage.md.
    rmSync(join(files, 'tile/0/000'));
    rmSync(join(files, 'checkpoint'));
    const service = await serve(env);
    await extend(service, 300, 301);
    await service.kill('SIGTERM');
    expect(await fsck(env)).toMatchObject({ ...SOUND, files: 6 });
    expect(readFileSync(join(files, 'tile/0/000'))).toEqual(right);
  });

  it('does not start with an older database than what was published, nor another log there', async () => {
    const newest = join(temporaryFolder(), 'newest.db');
    expect(await tally(['backup', newest], env)).toMatchObject({ code: 0 });
    const restore = (from: string): void => {
      for (const file of [`${database}-wal`, `${database}-shm`]) rmSync(file, { force: true });
      cpSync(from, database);
    };
    restore(copy);
    await expect(serve(env)).rejects.toThrow(
      /A checkpoint of 30\d leaves of this log is in the folder .*, but only 290 are here/,
    );
    const other = { ...newLog().env, TALLY_LOG_STORAGE: env['TALLY_LOG_STORAGE'] ?? '' };
    await expect(serve(other)).rejects.toThrow(/The checkpoint in the folder .* is not one of this log/);
    restore(newest);
    const service = await serve(env);
    await extend(service, 301, 302);
  });
});
