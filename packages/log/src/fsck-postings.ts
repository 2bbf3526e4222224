import type { Chain } from '@tallystick/chain';
import { encodePosting, equalBytes, type LogKey, toHex } from '@tallystick/core';
import type { Findings } from './fsck-report.ts';
import type { ChainPosting, LogStore, PostingAttempt } from './log-store.ts';

/** Decodes a signed raw transaction (`0x` hex); null when it is none. `data` is `0x` hex. */
export type DecodeAttempt = (
  raw: string,
) => { readonly txHash: string; readonly nonce: number; readonly data: string } | null;

interface Options {
  readonly store: LogStore;
  readonly log: LogKey;
  readonly chain?: Pick<Chain, 'transaction'>;
  readonly decodeAttempt?: DecodeAttempt;
}

/** Compares every posting with its checkpoint, its transactions and, where there is one, the chain. */
export async function checkPostings(options: Options, findings: Findings, headSize: number): Promise<void> {
  let earlier: Pick<ChainPosting, 'sequence' | 'size' | 'batchAt'> = { sequence: 0, size: 0, batchAt: 0 };
  for await (const posting of options.store.listPostings()) {
    if (posting.size > headSize && posting.size <= (await options.store.head()).size) break;
    findings.counts.postings += 1;
    const fault = (what: string): void => findings.fault(`posting ${posting.sequence}`, what);
    if (posting.sequence !== earlier.sequence + 1) fault(`follows posting ${earlier.sequence}`);
    if (posting.size <= earlier.size) fault('does not extend the tree that was posted before');
    if (posting.batchAt < earlier.batchAt) fault('is of an earlier time than the one before it');
    await checkLeaves(options.store, posting, fault);
    await checkTransactions(options, posting, fault);
    earlier = posting;
  }
}

async function checkLeaves(
  store: LogStore,
  posting: ChainPosting,
  fault: (what: string) => void,
): Promise<void> {
  const checkpoint = await store.getCheckpoint(posting.size);
  if (checkpoint === null) fault(`there is no checkpoint of its ${posting.size} leaves`);
  else if (!equalBytes(checkpoint.root, posting.root)) fault('its root is not that of its checkpoint');
  const next = await store.getLeaf(posting.size);
  if (next !== null && next.batchAt <= posting.batchAt) {
    fault(`leaf ${next.index}, which it does not cover, is of its batch ${posting.batchAt}`);
  }
}

async function checkTransactions(
  { store, log, chain, decodeAttempt }: Options,
  posting: ChainPosting,
  fault: (what: string) => void,
): Promise<void> {
  const { place, size, root, sequence } = posting;
  const data = `0x${toHex(encodePosting({ origin: log.origin, size, root }))}`;
  const attempts = await store.listAttempts(sequence);
  if (attempts.length === 0) fault('has no transaction');
  for (const attempt of attempts) {
    const what = decodeAttempt === undefined ? null : attemptFault(attempt, decodeAttempt, data);
    if (what !== null) fault(`its transaction ${attempt.txHash} ${what}`);
  }
  const confirmed = posting.state === 'confirmed' || posting.state === 'finalized';
  if (confirmed !== (place !== null))
    fault(`is ${posting.state} with ${place === null ? 'no' : 'a'} place on the chain`);
  if (place === null) return;
  if (!attempts.some(({ txHash }) => txHash === place.txHash))
    fault(`${place.txHash} is not one of its transactions`);
  if (chain === undefined) return;
  const found = await chain.transaction(place.txHash);
  if (found === null) fault(`the chain has no transaction ${place.txHash}`);
  else if (found.data !== data) fault(`the transaction ${place.txHash} carries other data`);
  else if (!found.inclusion.succeeded || found.inclusion.blockHash !== place.blockHash) {
    fault(`the transaction ${place.txHash} is not in block ${place.blockHeight} ${place.blockHash}`);
  }
}

function attemptFault(attempt: PostingAttempt, decode: DecodeAttempt, data: string): string | null {
  const transaction = decode(attempt.raw);
  if (transaction === null) return 'is not a signed transaction';
  if (transaction.txHash !== attempt.txHash) return `is in fact ${transaction.txHash}`;
  if (transaction.nonce !== attempt.nonce) return `has nonce ${transaction.nonce}, not ${attempt.nonce}`;
  return transaction.data === data ? null : 'carries other data than the posting';
}
