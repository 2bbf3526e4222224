import type { TokenChain } from '@tallystick/chain/evm';
import { canonicalize, copyJson } from '@tallystick/core';
import type { LedgerStore } from '@tallystick/ledger';
import { z } from 'zod';
import type { TreasuryMark } from '../treasury-store.ts';
import { chainAccount } from './accounts.ts';
import { NONE_READ } from './chain-postings.ts';
import { toNanoUsdc } from './units.ts';

const count = z.int().nonnegative();
const amount = z.codec(z.string().regex(/^-?\d+$/), z.bigint(), { decode: BigInt, encode: String });
const posting = z.object({ id: z.string(), line: count, amount });
const postings = z.array(z.object({ ...posting.shape, ordinal: count.nullable() }));
const move = z.object({ txHash: z.string(), height: count, incoming: count, amount });

/** A comparison as of a block and a line of the chain's account: what is left of it once all that agrees is forgotten. */
const comparison = z.object({
  /** What was compared; see `scopeOf`. */
  scope: z.string(),
  /** Number of transactions up to the block. */
  transfers: count,
  line: count,
  posting: z.string(),
  sum: amount,
  unknown: z.array(posting).readonly(),
  pairs: z.array(z.object({ move, postings })).readonly(),
  unmatched: z.array(z.object({ txHash: z.string(), postings })).readonly(),
});
export type Comparison = z.output<typeof comparison>;

/** A comparison has no mark where more transactions and postings than these are left of it. */
const MAX_LEFT = 1_000;

/** A comparison of which nothing is read yet. */
export function newComparison(scope: string): Comparison {
  return { ...NONE_READ, scope, transfers: 0, unknown: [], pairs: [], unmatched: [] };
}

/** Names the token and the addresses whose transfers count. A mark of others says nothing about these. */
export function scopeOf(
  usdc: string,
  watched: readonly { readonly treasury: string; readonly firstHeight: number }[],
): string {
  return [usdc, ...watched.map(({ treasury, firstHeight }) => `${treasury}>${firstHeight}`)].join(' ');
}

/** A comparison as text; null where too much is left of it. */
export function writeComparison(of: Comparison): string | null {
  const left = of.unknown.length + of.pairs.length + of.unmatched.length;
  return left > MAX_LEFT ? null : canonicalize(copyJson(comparison.encode(of)));
}

/**
 * The comparison of a mark. Null where it cannot be gone on with: it is of another token or of other addresses, its block is
 * not in the chain any more, the books do not have its last line, or another release has written it otherwise.
 */
export async function comparisonOf(
  mark: TreasuryMark,
  scope: string,
  { token, ledger }: { readonly token: Pick<TokenChain, 'network' | 'block'>; readonly ledger: LedgerStore },
): Promise<Comparison | null> {
  const { data } = comparison.safeParse(JSON.parse(mark.state));
  if (data?.scope !== scope) return null;
  if ((await token.block(mark.height))?.hash !== mark.blockHash) return null;
  const { line, posting, sum } = data;
  if (line === 0) return data;
  const page = { after: line - 1, limit: 1 };
  const [last] = await ledger.statement(chainAccount(token.network), page);
  return last?.posting === posting && last.balance === -toNanoUsdc(sum) ? data : null;
}
