import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { storageSuite } from '../../test/storage-suite.ts';
import { directoryStorage } from './directory-storage.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

storageSuite('a directory', async () => {
  const root = join(newFolder(), 'log');
  return {
    storage: directoryStorage(root),
    async overwrite(path, bytes) {
      await directoryStorage(root).create(path, bytes);
      await writeFile(join(root, path), bytes);
    },
    remove: (path) => rm(join(root, path)),
  };
});

test('everybody may read the files, whatever the process masks, and nothing unfinished stays', async () => {
  const root = join(newFolder(), 'a', 'log');
  const mask = process.umask(0o077);
  try {
    const storage = directoryStorage(root);
    await storage.check();
    await storage.create('tile/0/x001/000.p/5', new Uint8Array(160));
    await storage.create('tile/0/x001/000.p/5', new Uint8Array(160));
    await storage.replace('checkpoint', new Uint8Array(5), async () => true);
  } finally {
    process.umask(mask);
  }
  const modeOf = (path: string): string => (statSync(join(root, path)).mode & 0o777).toString(8);
  expect(['', 'tile', 'tile/0', 'tile/0/x001', 'tile/0/x001/000.p'].map(modeOf)).toEqual(
    Array(5).fill('755'),
  );
  expect(['tile/0/x001/000.p/5', 'checkpoint'].map(modeOf)).toEqual(['644', '644']);
  expect(readdirSync(join(root, '.unfinished'))).toEqual([]);
  expect(readdirSync(root).toSorted()).toEqual(['.unfinished', 'checkpoint', 'tile']);
});

test('a folder that cannot be made or written is named', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'file'), '');
  const refused = expect.objectContaining({
    code: 'unavailable',
    message: `The log’s files in the folder ${join(folder, 'file')} cannot be written (ENOTDIR).`,
  });
  await expect(directoryStorage(join(folder, 'file')).check()).rejects.toThrow(refused);
  await expect(
    directoryStorage(join(folder, 'file')).create('tile/0/000', new Uint8Array(1)),
  ).rejects.toThrow(expect.objectContaining({ code: 'unavailable' }));
  chmodSync(folder, 0o700);
});
