import type { TokenChain, TokenTransfer } from '@tallystick/chain/evm';
import type { BaseUnits } from '../treasury-store.ts';
import type { Move } from './match.ts';

/** An address whose transfers count from a block on. */
export interface WatchedSince {
  /** Lower case. */
  readonly address: string;
  readonly fromBlock: number;
}

/** Number of blocks whose transfers are held at once. */
const BLOCKS = 1_000;

/** Yields what was moved in a range of blocks, both ends included: some blocks at a time, a transaction once. */
export async function* readMoves(
  token: Pick<TokenChain, 'transfers'>,
  watched: readonly WatchedSince[],
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<Move[], void, undefined> {
  const first = Math.max(from, Math.min(...watched.map(({ fromBlock }) => fromBlock)));
  for (let start = first; start <= to; start += BLOCKS) {
    const toBlock = Math.min(start + BLOCKS - 1, to);
    const moves = new Map<string, Move>();
    for (const { address, fromBlock } of watched)
      await addMoves(token, address, { fromBlock: Math.max(start, fromBlock), toBlock }, moves);
    yield [...moves.values()];
  }
}

async function addMoves(
  token: Pick<TokenChain, 'transfers'>,
  address: string,
  range: { readonly fromBlock: number; readonly toBlock: number },
  moves: Map<string, Move>,
): Promise<void> {
  if (range.fromBlock > range.toBlock) return;
  const add = ({ txHash, blockNumber }: TokenTransfer, amount: BaseUnits): void => {
    const move = moves.get(txHash) ?? { txHash, height: blockNumber, incoming: 0, amount: 0n };
    moves.set(txHash, move);
    move.amount += amount;
    if (amount > 0n) move.incoming += 1;
  };
  for await (const one of token.transfers({ ...range, to: address }))
    if (one.from !== one.to) add(one, one.amount);
  for await (const one of token.transfers({ ...range, from: address }))
    if (one.from !== one.to) add(one, -one.amount);
}
