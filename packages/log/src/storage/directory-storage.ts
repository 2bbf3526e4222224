import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { TallyError } from '@tallystick/core';
import { type ObjectStorage, REPLACE_TRIES } from './object-storage.ts';

/** Folder under the root where a file is written before it gets its name. A crash leaves at most a few files there. */
const UNFINISHED = '.unfinished';

/**
 * Objects as files of a folder, which any web server can serve: everybody may read them, whatever the process's umask. A
 * file gets its name by a hard link, which fails where the name is taken. Between the look at a file that is to be replaced and its
 * replacement are two system calls; a process that is suspended there can put an older file back.
 */
export function directoryStorage(root: string): ObjectStorage {
  const name = `the folder ${root}`;
  const pathOf = (path: string): string => join(root, path);

  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof TallyError) throw cause;
      const code = codeOf(cause);
      throw new TallyError('unavailable', `The log’s files in ${name} cannot be ${what} (${code}).`, {
        cause,
      });
    }
  }

  /** Writes a file under another name, has `give` name it, and makes the name durable. */
  async function write<T>(
    path: string,
    bytes: Uint8Array,
    give: (unfinished: string) => Promise<T>,
  ): Promise<T> {
    await makeFolder(root, dirname(path));
    await makeFolder(root, join(root, UNFINISHED));
    const unfinished = join(root, UNFINISHED, randomUUID());
    try {
      const file = await open(unfinished, 'wx');
      try {
        await file.chmod(0o644);
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      const given = await give(unfinished);
      // Also where the name was taken: who took it may not have come to this yet.
      await syncFolder(dirname(path));
      return given;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  const get = (path: string): Promise<Uint8Array | null> =>
    attempt('read', () => readFile(pathOf(path)).catch(orNothing));

  return {
    name,
    get,
    check: () =>
      attempt('written', async () => {
        const probe = join(root, UNFINISHED, `${randomUUID()}.name`);
        await write(probe, new Uint8Array(0), (unfinished) => link(unfinished, probe));
        await rm(probe);
      }),
    create: (path, bytes) =>
      attempt('written', () =>
        write(pathOf(path), bytes, async (unfinished) => {
          try {
            await link(unfinished, pathOf(path));
            return true;
          } catch (error) {
            if (codeOf(error) === 'EEXIST') return false;
            throw error;
          }
        }),
      ),
    async replace(path, bytes, isNewer) {
      for (let tries = 0; tries < REPLACE_TRIES; tries++) {
        const before = await get(path);
        if (!(await isNewer(before))) return;
        const replaced = await attempt('written', () =>
          write(pathOf(path), bytes, async (unfinished) => {
            if (!isSame(before, readNow(pathOf(path)))) return false;
            renameSync(unfinished, pathOf(path));
            return true;
          }),
        );
        if (replaced) return;
      }
      throw new TallyError('unavailable', `Others keep replacing ${path} in ${name}.`);
    },
  };
}

/** Makes a folder and those above it, up to the root. Their names are durable when it resolves. */
async function makeFolder(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const below = relative(dirname(first), folder).split(sep);
  for (const [depth] of below.entries()) {
    const made = join(dirname(first), ...below.slice(0, depth + 1));
    if (!relative(root, made).startsWith('..')) await chmod(made, 0o755);
    await syncFolder(dirname(made));
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function readNow(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch (error) {
    return orNothing(error);
  }
}

function orNothing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.compare(one, other) === 0;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';
