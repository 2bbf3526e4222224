import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenChain } from '@tallystick/chain/evm';
import type { BaseUnits } from '../payment-store.ts';

/** Amount from which a payment waits for the configured confirmations; for less, one block is enough. 1 USDC. */
const CONFIRMED_FROM: BaseUnits = 1_000_000n;

/** A transfer authorised by EIP-3009. */
export interface AuthorizedTransfer {
  readonly from: string;
  readonly to: string;
  readonly amount: BaseUnits;
  /** 32 bytes, hex. */
  readonly nonce: string;
  /** Height of the chain when the payment was first seen: it is in no earlier block. */
  readonly fromBlock: number;
}

/** What the chain shows of an authorised transfer. */
export type ChainObservation =
  | { readonly kind: 'moved'; readonly tx: string }
  /** Another transaction has used up its nonce. */
  | { readonly kind: 'other'; readonly tx: string }
  | { readonly kind: 'unseen' };

/** Looks once at the chain. It trusts nothing that a facilitator says. */
export async function lookUp(chain: TokenChain, transfer: AuthorizedTransfer): Promise<ChainObservation> {
  const { from, to, amount, nonce, fromBlock } = transfer;
  const tx = await chain.authorizationTx(from, nonce, fromBlock);
  if (tx === null) return { kind: 'unseen' };
  const state = await chain.settled(tx, { from, to, amount });
  if (state === 'mismatch') return { kind: 'other', tx };
  if (state === 'missing' || (state === 'pending' && amount >= CONFIRMED_FROM)) return { kind: 'unseen' };
  return { kind: 'moved', tx };
}

/** Repeats a look until it finds something, or `waitMs` are over. A chain that cannot be reached counts as showing nothing. */
export async function waitFor<T>(
  check: () => Promise<T | null>,
  waitMs: number,
  everyMs: number,
): Promise<T | null> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = await check().catch(() => null);
    if (found !== null || performance.now() + everyMs > deadline) return found;
    await sleep(everyMs);
  }
}

/**
 * The id of a transfer's posting: `transfer:<network>:<tx>:<ordinal>`, the ordinal counting the transfers to the
 * treasury within the transaction.
 * @param skip number of transfers of the same payer and amount that belong to other payments
 */
export async function transferId(
  chain: TokenChain,
  { tx, from, to, amount, fromBlock }: Omit<AuthorizedTransfer, 'nonce'> & { readonly tx: string },
  skip: number,
): Promise<string> {
  const { number: toBlock } = await chain.head();
  let left = skip;
  for await (const one of chain.transfers({ to, fromBlock, toBlock })) {
    if (one.txHash !== tx || one.from !== from.toLowerCase() || one.amount !== amount) continue;
    if (left === 0) return postingId(chain.network, tx, one.ordinal);
    left -= 1;
  }
  return postingId(chain.network, tx, 0);
}

export function postingId(network: string, tx: string, ordinal: number): string {
  return `transfer:${network}:${tx}:${ordinal}`;
}
