import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fromHex, TallyError, toHex } from '@tallystick/core';
import type { TreeHead } from './log-store.ts';
import type { WitnessState } from './witness.ts';

interface StoredHead {
  readonly size: number;
  /** Hex. */
  readonly root: string;
}

/**
 * Keeps a witness's state in one JSON file, an object from origin to `{size, root}`. Each write replaces the whole
 * file, and is on disk before it resolves.
 * @throws invalid_field when the file is not such an object: a witness that has forgotten may cosign a fork
 */
export async function openWitnessState(path: string): Promise<WitnessState> {
  const heads = await readHeads(path);
  let writing: Promise<void> = Promise.resolve();
  async function replace(origin: string, head: TreeHead): Promise<void> {
    await replaceFile(path, format(new Map([...heads, [origin, head]])));
    heads.set(origin, head);
  }

  return {
    async read(origin) {
      return heads.get(origin) ?? null;
    },
    write(origin, head) {
      writing = writing.catch(() => {}).then(() => replace(origin, head));
      return writing;
    },
  };
}

async function readHeads(path: string): Promise<Map<string, TreeHead>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, StoredHead>);
    return new Map(
      entries.map(([origin, { size, root }]) => [origin, { size: sizeOf(size), root: fromHex(root, 32) }]),
    );
  } catch (cause) {
    throw new TallyError('invalid_field', `${path} is not the state of a witness.`, { cause });
  }
}

function sizeOf(size: unknown): number {
  if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size;
  throw new RangeError('A tree size is an integer from 0.');
}

function format(heads: ReadonlyMap<string, TreeHead>): string {
  const entries = [...heads].map(([origin, { size, root }]) => [origin, { size, root: toHex(root) }]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.partial`;
  const file = await open(partial, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
