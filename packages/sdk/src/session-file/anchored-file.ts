import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  type AnchoredResult,
  parseJson,
  readSessionReceipt,
  TallyError,
  utf8,
  verifyParsed,
} from '@tallystick/core';
import { withAnchor } from '../anchors/with-anchor.ts';
import { syncFolderOf } from './files.ts';
import { takeLock } from './lock.ts';

/** A receipt of a session, and its anchor. */
export interface ReceiptAnchor {
  readonly seq: number;
  /** `sha256:<hex>`, the receipt's anchored hash. */
  readonly hash: string;
  readonly anchor: AnchoredResult;
}

/**
 * Puts anchors into the lines of their receipts. A crash leaves the old file or the new one. Whoever calls it has the lock.
 * @throws anchor_invalid for an anchor that is not of its receipt; the file then stays as it was
 */
export async function putAnchors(path: string, anchors: readonly ReceiptAnchor[]): Promise<void> {
  const lines = readFileSync(path, 'utf8').split('\n');
  for (const { seq, hash, anchor } of anchors) {
    const line = lines[seq];
    if (line === undefined || readSessionReceipt(line).hash !== hash)
      throw new TallyError('anchor_invalid', `${path} has another receipt as number ${seq}.`);
    const anchored = withAnchor(line, anchor);
    const { checks } = await verifyParsed(parseJson(utf8(anchored)), { now: Date.now() });
    const broken = checks.find(({ ok }) => ok === false);
    if (broken !== undefined)
      throw new TallyError('anchor_invalid', `The anchor does not hold: ${broken.detail ?? broken.name}`);
    lines[seq] = anchored;
  }
  replace(path, lines.join('\n'));
}

/**
 * Puts an anchor into the line of its receipt, in a file in which nobody records.
 * @param waitMs how long to wait for whoever records, in milliseconds
 * @throws session_in_use; anchor_invalid for an anchor that is not of this receipt; the file then stays as it was
 */
export async function anchorSessionFile(path: string, anchor: ReceiptAnchor, waitMs = 0): Promise<void> {
  const unlock = await takeLock(`${path}.lock`, waitMs);
  try {
    await putAnchors(path, [anchor]);
  } finally {
    unlock();
  }
}

function replace(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.new`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolderOf(path);
}
