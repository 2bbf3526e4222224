import {
  type AnchoredResult,
  fromBase64url,
  fromHex,
  isObject,
  leafOf,
  openCheckpoint,
  parseAnchorRef,
  parseJson,
  readAnchoredResult,
  TallyError,
  toBase64url,
  utf8,
  verifyInclusion,
} from '@tallystick/core';
import { ApiProblem, apiText } from '../../api.ts';
import type { Finding } from '../../components/findings.tsx';
import { count } from '../../format/number.ts';
import { trustHere } from '../../trust.ts';
import { logKeyOf } from './check-head.ts';
import { leaves } from './documents.ts';
import { Tiles } from './tiles.ts';

/** What was found out about a hash. */
export interface LookUp {
  readonly state: 'pass' | 'fail' | 'unknown';
  readonly title: string;
  readonly message: string;
  readonly index: number | null;
  /** Where its root is on the chain; null until it is. */
  readonly place: Pick<AnchoredResult, 'tx_hash' | 'block_height' | 'network'> | null;
  readonly findings: readonly Finding[];
}

/** Reads 32 bytes from hex, with or without `sha256:`, or from base64url; null for anything else. */
export function hashIn(text: string): Uint8Array | null {
  const hex = text.trim().replace(/^(?:sha256:|0x)/, '');
  try {
    const bytes = /^[0-9a-f]{64}$/i.test(hex) ? fromHex(hex.toLowerCase()) : fromBase64url(text.trim());
    return bytes.length === 32 ? bytes : null;
  } catch {
    return null;
  }
}

/** Looks a hash of 32 bytes up in the log and checks the proof that it is there. @throws ApiProblem if nobody answers */
export async function lookUp(hash: Uint8Array, signal: AbortSignal): Promise<LookUp> {
  try {
    const text = await apiText(`/v1/anchor/by-hash/${toBase64url(hash)}`, { signal });
    const answer = parseJson(utf8(text));
    if (isObject(answer) && typeof answer['batch_id'] === 'string')
      return await waiting(answer, hash, signal);
    return await anchored(readAnchoredResult(answer), hash, signal);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) {
      const message =
        'The log has not accepted this hash. If it is the hash of a receipt, the receipt was minted without an anchor.';
      return { state: 'unknown', title: 'Not in this log', message, index: null, place: null, findings: [] };
    }
    if (error instanceof TallyError) return doubtful([], error.message);
    throw error;
  }
}

/** A hash whose root is not final on the chain: its path is read from tiles, to the newest checkpoint. */
async function waiting(
  answer: Readonly<Record<string, unknown>>,
  hash: Uint8Array,
  signal: AbortSignal,
): Promise<LookUp> {
  const { index } = parseAnchorRef(String(answer['anchor_ref']));
  const due = `Its root is due on the chain at ${String(answer['batch_id'])}.`;
  const title = 'In the log, not on the chain yet';
  const accepted = { index, place: null, title: 'Accepted' } as const;
  const note = await apiText('/checkpoint', { signal });
  const key = logKeyOf(await trustHere(signal));
  if (key === null) {
    return { ...accepted, state: 'unknown', message: due, findings: [unsigned()] };
  }
  const head = await openCheckpoint(note, key);
  if (index >= head.size) {
    const message = `It is leaf ${count(index)}, which no checkpoint covers yet. ${due}`;
    return { ...accepted, state: 'unknown', message, findings: [] };
  }
  const claim = { index, size: head.size, leafHash: leafOf(hash), root: head.root };
  const path = await new Tiles(head.size).inclusionProof(index);
  const findings = [pathFinding(verifyInclusion({ ...claim, path }), path.length), signed(head.size)];
  if (findings.some(({ state }) => state === 'fail')) return doubtful(findings);
  const message = `Leaf ${count(index)}, counted from 0, of a tree of ${leaves(head.size)}. ${due}`;
  return { state: 'pass', title, message, index, place: null, findings };
}

async function anchored(result: AnchoredResult, hash: Uint8Array, signal: AbortSignal): Promise<LookUp> {
  const {
    leaf_index: index = 0,
    tree_size: size = 0,
    merkle_path,
    merkle_root,
    network,
    block_height,
  } = result;
  const path = merkle_path.map(bytesOf);
  const holds = verifyInclusion({ index, size, leafHash: leafOf(hash), path, root: bytesOf(merkle_root) });
  const signature = await signatureOf(result, signal);
  const transaction: Finding = {
    state: 'unknown',
    name: 'Transaction',
    detail:
      'This page does not ask the chain: compare the root with the transaction’s data on an explorer or a node.',
  };
  const findings = [pathFinding(holds, path.length), signature, transaction];
  if (findings.some(({ state }) => state === 'fail')) return doubtful(findings);
  const message = `Leaf ${count(index)}, counted from 0, of a tree of ${leaves(size)}; on ${network} in block ${count(block_height)}.`;
  const state = signature.state === 'pass' ? 'pass' : 'unknown';
  return { state, title: 'In the log, and on the chain', message, index, place: result, findings };
}

async function signatureOf(
  { checkpoint = '', merkle_root, tree_size }: AnchoredResult,
  signal: AbortSignal,
): Promise<Finding> {
  const key = logKeyOf(await trustHere(signal));
  if (key === null) return unsigned();
  try {
    const head = await openCheckpoint(checkpoint, key);
    const same = head.size === tree_size && toBase64url(head.root) === toBase64url(bytesOf(merkle_root));
    return same
      ? signed(head.size)
      : { state: 'fail', name: 'Checkpoint', detail: 'The log signed another root or another size.' };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { state: 'fail', name: 'Checkpoint', detail: error.message };
  }
}

const bytesOf = (hash: string): Uint8Array => fromHex(hash.replace('sha256:', ''));

function pathFinding(holds: boolean, hashes: number): Finding {
  return holds
    ? {
        state: 'pass',
        name: 'Path',
        detail: `It leads from this leaf to the root, over ${hashes} ${hashes === 1 ? 'hash' : 'hashes'}.`,
      }
    : { state: 'fail', name: 'Path', detail: 'It does not lead from this leaf to the root.' };
}

const signed = (size: number): Finding => ({
  state: 'pass',
  name: 'Checkpoint',
  detail: `The log signed that root, for a tree of ${leaves(size)}.`,
});

const unsigned = (): Finding => ({
  state: 'unknown',
  name: 'Checkpoint',
  detail: 'Not checked: no trust bundle names the key of this log.',
});

const doubtful = (
  findings: readonly Finding[],
  message = 'The service says that the hash is in the log, but its proof does not show it. Keep this answer.',
): LookUp => ({
  state: 'fail',
  title: 'The proof does not hold',
  message,
  index: null,
  place: null,
  findings,
});
