import { fromHex, readSessionReceipt } from '@tallystick/core';
import { anchorSessionFile } from '@tallystick/sdk/session-file';
import { acceptHash, anchorOfHash } from '../anchor/results.ts';
import { untilAnchored } from '../anchor/wait.ts';
import { requireKey } from '../api-key.ts';
import { readBytes } from '../input.ts';
import { asUsage, printJson, remark, UsageError } from '../output.ts';

export interface AnchorSessionOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

/** Has the newest receipt of a session anchored, waits for the proof, and puts it into the receipt's line. */
export async function anchorSession(
  file: string,
  { url, apiKey, json }: AnchorSessionOptions,
): Promise<void> {
  const key = requireKey(apiKey);
  const { seq, hash } = await newestOf(file);
  const bytes = fromHex(hash.slice('sha256:'.length), 32);
  const accepted = await acceptHash(url, bytes, key);
  const { state } = await untilAnchored(accepted, () => anchorOfHash(url, bytes));
  if (state.kind !== 'anchored') return;
  await anchorSessionFile(file, { seq, hash, anchor: state.result });
  if (json) printJson({ file, seq, sha256: hash, anchor_ref: state.ref });
  else remark(`Anchored up to number ${seq}: ${state.ref}`);
}

/** @throws UsageError for a file that holds no whole receipt of a session */
async function newestOf(file: string): Promise<{ readonly seq: number; readonly hash: string }> {
  const text = new TextDecoder().decode(await readBytes(file));
  const last = text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1) ?? '';
  if (last === '') throw new UsageError(`${file} holds no receipt.`);
  try {
    const { call, hash } = readSessionReceipt(last);
    return { seq: Number(call.session.seq), hash };
  } catch (error) {
    throw asUsage(error);
  }
}
