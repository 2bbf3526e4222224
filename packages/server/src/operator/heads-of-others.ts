import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readText, unreadable } from '@tallystick/cli/toolkit';
import { openCheckpoint, TallyError, type VerifierKey } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';
import { checkpointsIn, fetchAtMost } from '@tallystick/log';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The checkpoints of a log that others were shown, as signed notes: in files, in all files of a folder, or at URLs.
 * @throws checkpoint_invalid for a file or URL without one; checkpoint_signature_invalid for one that the log has not
 * signed; unavailable for a URL that does not answer; UsageError for a file that cannot be read
 */
export async function headsOfOthers(sources: readonly string[], vkey: VerifierKey): Promise<string[]> {
  const found = new Set<string>();
  for (const source of sources) {
    const notes = await notesOf(source, vkey.name);
    if (notes.length === 0)
      throw new TallyError('checkpoint_invalid', `${source} has no checkpoint of the log ${vkey.name}.`);
    for (const note of notes) {
      await requireSigned(note, vkey, source);
      found.add(note);
    }
  }
  return [...found];
}

async function notesOf(source: string, origin: string): Promise<string[]> {
  if (/^https?:\/\//.test(source)) {
    const bytes = await fetchAtMost(fetch, source, MAX_BYTES);
    return checkpointsIn(Buffer.from(bytes).toString('utf8'), origin);
  }
  const notes: string[] = [];
  for (const path of filesOf(source)) notes.push(...checkpointsIn(await readText(path), origin));
  return notes;
}

/** The files of a folder, without those of folders in it; else the path itself. */
function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function requireSigned(note: string, { name, publicKey }: VerifierKey, source: string): Promise<void> {
  try {
    await openCheckpoint(note, { origin: name, publicKey }, nodeEngine);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new TallyError(error.code, `${source}: ${error.message}`, { cause: error });
  }
}
