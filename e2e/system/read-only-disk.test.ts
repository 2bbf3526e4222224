import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Acknowledged } from '../acknowledged.ts';
import { untilStatusIsRed } from '../faults/load.ts';
import { createKey, fsck, SOUND, until } from '../log-client.ts';
import { residentMiB, serve, tally } from '../process.ts';
import { mountDisk } from './disk.ts';

const MEMORY_MIB = 400;
const READY_TRUE_SECONDS = 10;

const DISK_BYTES = 64 << 20;

describe('a data directory that can only be read', () => {
  it('stops a first start, which names the directory', async () => {
    const disk = mountDisk(DISK_BYTES);
    await disk.mountReadOnly();
    const { code, stderr } = await tally(['serve'], { PORT: '0', TALLY_DATA_DIR: disk.path });
    expect(code).not.toBe(0);
    expect(stderr).toContain(disk.path);
    expect(stderr).toMatch(/read-only|cannot be written/i);
  });

  it('stops a later start, which leaves what is there', async () => {
    const disk = mountDisk(DISK_BYTES);
    const env = { TALLY_DATA_DIR: join(disk.path, 'data'), TALLY_DEVNET: 'off' };
    const acknowledged = new Acknowledged('before');
    const before = await serve(env);
    for (let i = 0; i < 10; i++) expect(await acknowledged.mint(before.url)).toBe(200);
    await before.kill('SIGTERM');

    await disk.mountReadOnly();
    const { code, stderr } = await tally(['serve'], { ...env, PORT: '0' });
    expect(code).not.toBe(0);
    expect(stderr).toContain(env.TALLY_DATA_DIR);
    expect(stderr).toMatch(/read-only|cannot be written/i);

    await disk.repair();
    const after = await serve(env);
    await acknowledged.expectKept(after.url);
    expect(await after.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });

  it('under a running service: nothing more is acknowledged, /readyz says so, and nothing acknowledged is lost', async () => {
    const disk = mountDisk(DISK_BYTES);
    const env = { TALLY_DATA_DIR: disk.path, TALLY_DEVNET: 'off' };
    const service = await serve(env);
    const key = await createKey('scale', env);
    const acknowledged = new Acknowledged('running');
    for (let i = 0; i < 50; i++) expect(await acknowledged.mint(service.url)).toBe(200);
    await acknowledged.placed.place(service.url, key, 50);
    expect((await fetch(`${service.url}/status`)).status).toBe(200);

    disk.fail();
    expect(await acknowledged.mint(service.url)).toBe(503);
    await expect(acknowledged.placed.place(service.url, key, 10)).rejects.toThrow('unavailable');
    await until(
      async () => (await fetch(`${service.url}/readyz`)).status,
      (status) => status === 503,
      READY_TRUE_SECONDS,
    );
    await untilStatusIsRed(service.url);
    expect(residentMiB(service.pid)).toBeLessThan(MEMORY_MIB);
    await service.kill('SIGTERM');

    await disk.repair();
    const again = await serve(env);
    await acknowledged.expectKept(again.url);
    await acknowledged.expectPlaced(again.url, key);
    expect(await acknowledged.mint(again.url)).toBe(200);
    expect(await again.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(await fsck(env)).toMatchObject(SOUND);
  });
});
