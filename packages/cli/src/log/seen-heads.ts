import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  isObject,
  type JsonValue,
  type LogKey,
  sha256Hex,
  TallyError,
  toHex,
  utf8,
  verifierKey,
} from '@tallystick/core';
import { tallyHome } from '@tallystick/sdk/home';
import { writeAtomically } from '../files.ts';
import { UsageError } from '../output.ts';
import type { TrustSource } from '../trust-sources.ts';
import { openBySigner } from './trusted.ts';

/** Heads that are kept of one log: those of the largest trees. */
const MAX_HEADS = 64;

/** The folder with the signed heads of a log that receipts on this machine were verified with. */
export function seenHeads({ origin, publicKey }: LogKey): string {
  const id = sha256Hex(utf8(verifierKey(origin, publicKey))).slice(0, 16);
  return join(tallyHome(), 'heads', id);
}

/**
 * Keeps the signed heads in anchors, for `tally log monitor` to compare the log with. Nothing is said where they can't be kept: a
 * verdict does not depend on it.
 * @param anchors anchored results, and receipts that hold one
 */
export async function keepHeads(
  anchors: readonly (JsonValue | undefined)[],
  sources: readonly TrustSource[],
): Promise<void> {
  for (const note of new Set(anchors.flatMap(notesIn))) {
    try {
      const { log, checkpoint } = await openBySigner(note, sources);
      // Zeros in front, so that names sort by size.
      const size = `${checkpoint.size}`.padStart(16, '0');
      keep(seenHeads(log), `${size}-${toHex(checkpoint.root).slice(0, 16)}.txt`, note);
    } catch (error) {
      if (!(error instanceof TallyError || error instanceof UsageError || isSystemError(error))) throw error;
    }
  }
}

function notesIn(document: JsonValue | undefined): string[] {
  if (!isObject(document)) return [];
  return [document.checkpoint, isObject(document.anchor) ? document.anchor.checkpoint : undefined].filter(
    (note) => typeof note === 'string',
  );
}

function keep(folder: string, name: string, note: string): void {
  const path = join(folder, name);
  if (existsSync(path)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeAtomically(path, note, 0o600);
  const kept = readdirSync(folder).filter((one) => one.endsWith('.txt'));
  for (const smallest of kept.toSorted().slice(0, -MAX_HEADS))
    rmSync(join(folder, smallest), { force: true });
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}
