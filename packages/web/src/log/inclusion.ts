import {
  type AnchoredResult,
  fromHex,
  isObject,
  leafOf,
  openCheckpoint,
  readAnchoredResult,
  TallyError,
  toBase64url,
  verifyInclusion,
} from '@tallystick/core';
import { attempt } from '../attempt.ts';
import { checkRow } from '../checks.ts';
import type { State } from '../dom.ts';
import { fetchJson, isRequestFailure, reasonOf } from '../fetch-answer.ts';
import { logProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
import { formatText } from '../words.ts';
import { finding, logKeyOf } from './checkpoint.ts';
import { clockTime, count, duration } from './numbers.ts';

/** Looks up a hash (32 bytes) in the log and checks the proof that the service returns. Never throws. */
export async function inclusionOf(hash: Uint8Array, trust: TrustInUse): Promise<DocumentFragment> {
  const { text } = prose;
  const answer = await fetchJson(`/v1/anchor/by-hash/${toBase64url(hash)}`);
  if (isRequestFailure(answer)) {
    return answer.status === 404
      ? finding('unsure', text.absent, text.absentMessage)
      : finding('fail', text.notRead, reasonOf(answer, text));
  }
  if (isObject(answer) && typeof answer.batch_id === 'string') {
    const message = formatText(
      text.pendingMessage,
      clockTime(answer.batch_id),
      duration(Number(answer.eta_seconds)),
    );
    return finding('unsure', text.pending, message);
  }
  const result = attempt(() => readAnchoredResult(answer));
  if (result instanceof TallyError) return finding('fail', text.doubtful, result.message);
  return proofOf(result, hash, trust);
}

interface Line {
  readonly state: State;
  readonly name: string;
  readonly detail: string;
}

async function proofOf(
  result: AnchoredResult,
  hash: Uint8Array,
  trust: TrustInUse,
): Promise<DocumentFragment> {
  const { text } = prose;
  const { tx_hash, block_height, network, leaf_index = 0, tree_size = 0 } = result;
  const transaction = formatText(text.transactionNote, tx_hash, block_height);
  const lines: Line[] = [
    pathOf(result, hash),
    await signatureOf(result, trust),
    { state: 'unknown', name: text.transaction, detail: transaction },
  ];
  const rows = lines.map(({ state, name, detail }) => checkRow(state, name, detail));
  if (lines.some(({ state }) => state === 'fail')) {
    return finding('fail', text.doubtful, text.doubtfulMessage, rows);
  }
  const message = formatText(
    text.includedMessage,
    count(leaf_index),
    count(tree_size),
    network,
    count(block_height),
  );
  const known = lines[1]?.state === 'pass';
  return finding(known ? 'pass' : 'unsure', text.included, message, rows);
}

const bytesOf = (hash: string): Uint8Array => fromHex(hash.replace('sha256:', ''));

function pathOf(
  { leaf_index = 0, tree_size = 0, merkle_path, merkle_root }: AnchoredResult,
  hash: Uint8Array,
): Line {
  const { text } = prose;
  const holds = verifyInclusion({
    index: leaf_index,
    size: tree_size,
    leafHash: leafOf(hash),
    path: merkle_path.map(bytesOf),
    root: bytesOf(merkle_root),
  });
  const name = text.path;
  return holds
    ? { state: 'pass', name, detail: formatText(text.pathHolds, merkle_path.length) }
    : { state: 'fail', name, detail: text.pathBroken };
}

async function signatureOf(
  { checkpoint = '', merkle_root, tree_size }: AnchoredResult,
  trust: TrustInUse,
): Promise<Line> {
  const { text } = prose;
  const name = text.signature;
  const key = logKeyOf(trust);
  if (key === null) return { state: 'unknown', name, detail: text.signatureUnchecked };
  try {
    const head = await openCheckpoint(checkpoint, key);
    const same = head.size === tree_size && toBase64url(head.root) === toBase64url(bytesOf(merkle_root));
    return same
      ? { state: 'pass', name, detail: formatText(text.signatureHolds, count(head.size)) }
      : { state: 'fail', name, detail: text.doubtful };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { state: 'fail', name, detail: error.message };
  }
}
