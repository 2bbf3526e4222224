import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Acknowledged } from '../acknowledged.ts';
import { expectStatusIsGreen, untilStatusIsRed } from '../faults/load.ts';
import { createKey, fsck, metric, SOUND, until, untilAnchored } from '../log-client.ts';
import { startPostingChain } from '../posting-chain.ts';
import { residentMiB, serve, temporaryFolder } from '../process.ts';
import { mountDisk } from './disk.ts';

/** Of a running service and what it may keep for a disk that takes nothing, in MiB. */
const MEMORY_MIB = 400;
/** `/readyz` is true within ten seconds, and all is well again within thirty. */
const READY_TRUE_SECONDS = 10;
const RECOVERED_SECONDS = 30;

const readiness = async (url: string): Promise<number> => (await fetch(`${url}/readyz`)).status;

describe('a full disk', () => {
  it('under the log lines: they are dropped and counted, everything else goes on', async () => {
    const disk = mountDisk(1 << 20);
    const path = join(disk.path, 'service.log');
    const stderr = openSync(path, 'a');
    const env = { TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off', TALLY_LOG_LEVEL: 'info' };
    const service = await serve(env, stderr);
    closeSync(stderr);
    const key = await createKey('scale', env);
    const acknowledged = new Acknowledged('log disk');
    disk.fill();
    for (let i = 0; i < 200; i++) expect(await acknowledged.mint(service.url)).toBe(200);
    await acknowledged.placed.place(service.url, key, 50);
    await until(
      () => metric(service.url, 'log_lines_dropped_total'),
      (dropped) => dropped > 0,
    );
    expect(await readiness(service.url)).toBe(200);

    disk.free();
    const { size } = statSync(path);
    await until(
      async () => {
        await acknowledged.mint(service.url);
        return statSync(path).size;
      },
      (now) => now > size,
      RECOVERED_SECONDS,
    );
    await acknowledged.expectKept(service.url);
    await acknowledged.expectPlaced(service.url, key);
    expect(residentMiB(service.pid)).toBeLessThan(MEMORY_MIB);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(await fsck(env)).toMatchObject(SOUND);
  });

  it('under the database: nothing acknowledged is lost, /readyz and /status say so, and it recovers by itself', async () => {
    const disk = mountDisk(32 << 20);
    const chain = await startPostingChain(temporaryFolder());
    const env = { TALLY_DATA_DIR: disk.path, TALLY_ANCHOR_PERIOD_SECONDS: '1', ...chain.env };
    const service = await serve(env);
    const { url } = service;
    const key = await createKey('scale', env);
    const acknowledged = new Acknowledged('database disk');
    for (let i = 0; i < 50; i++) expect(await acknowledged.mint(url)).toBe(200);
    await acknowledged.placed.place(url, key, 50);
    await untilAnchored(url, acknowledged.placed.answered);
    expect((await fetch(`${url}/status`)).status).toBe(200);

    disk.fill();
    await until(
      () => acknowledged.mint(url),
      (status) => status === 503,
      READY_TRUE_SECONDS,
    );
    await until(
      () => readiness(url),
      (status) => status === 503,
      READY_TRUE_SECONDS,
    );
    await expect(acknowledged.placed.place(url, key, 10)).rejects.toThrow('unavailable');
    await untilStatusIsRed(url);
    await acknowledged.expectKept(url);

    disk.free();
    await until(
      () => acknowledged.mint(url),
      (status) => status === 200,
      RECOVERED_SECONDS,
    );
    await until(
      () => readiness(url),
      (status) => status === 200,
      RECOVERED_SECONDS,
    );
    await acknowledged.expectKept(url);
    await acknowledged.expectPlaced(url, key);
    await untilAnchored(url, acknowledged.placed.answered);
    await expectStatusIsGreen(url);
    expect(residentMiB(service.pid)).toBeLessThan(MEMORY_MIB);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject(SOUND);
  });
});
