import type { LedgerStore } from '@tallystick/ledger';
import { paidPostingId } from '../payouts/postings.ts';
import type { BaseUnits, TreasuryStore } from '../treasury-store.ts';
import { chainAccount, ownId } from './accounts.ts';
import type { Matcher, Posting } from './match.ts';
import { toNanoUsdc } from './units.ts';

/** The postings of a chain's account up to a line, as far as they are not in a matcher. */
export interface ReadPostings {
  /** Line of the last one. */
  readonly line: number;
  /** Id of the last posting; empty where there is none. */
  readonly posting: string;
  /** Base units. */
  readonly sum: BaseUnits;
  /** The postings that book neither a transaction nor an opening. */
  readonly unknown: readonly Posting[];
}

export const NONE_READ: ReadPostings = { line: 0, posting: '', sum: 0n, unknown: [] };

/** The postings of a chain's account, in the order in which they were made. */
interface ChainPostings {
  /** Reads on towards the line `known` while the chain has shown what was not read here, but not far ahead of the chain. */
  catchUp(): Promise<void>;
  /** Reads to a line, or to the end where that comes first. */
  readTo(line: number): Promise<void>;
  soFar(): ReadPostings;
}

/** Number of postings that are read at once, and that may wait for the chain while it is read. */
const PAGE = 200;

/** Reads the postings of a chain's account that follow those of `begin`, and hands those that book transactions to the matcher. */
export function openPostings(
  { ledger, treasury }: { readonly ledger: LedgerStore; readonly treasury: Pick<TreasuryStore, 'payout'> },
  {
    network,
    openings,
    matcher,
    begin,
    known,
  }: {
    readonly network: string;
    readonly openings: readonly string[];
    readonly matcher: Matcher;
    readonly begin: ReadPostings;
    readonly known: number;
  },
): ChainPostings {
  let { line: after, posting: last, sum } = begin;
  const unknown = [...begin.unknown];

  /** Reads a page of what is not after the line `end`. Resolves to false where there is nothing. */
  async function readPage(end: number): Promise<boolean> {
    if (after >= end) return false;
    const limit = Math.min(PAGE, end - after);
    const lines = await ledger.statement(chainAccount(network), { after, limit });
    for (const { line, posting: id, amount: credited } of lines) {
      const amount = -credited / toNanoUsdc(1n);
      after = line;
      last = id;
      sum += amount;
      if (openings.includes(id)) continue;
      const part = await partOf(treasury, network, id);
      if (part === null) unknown.push({ id, line, amount });
      else matcher.addPosting(part.txHash, { id, line, amount, ordinal: part.ordinal });
    }
    return lines.length > 0;
  }

  return {
    async catchUp() {
      while (matcher.moves.size > 0 && matcher.postings.size < PAGE) if (!(await readPage(known))) return;
    },
    async readTo(line) {
      while (await readPage(line));
    },
    soFar: () => ({ line: after, posting: last, sum, unknown }),
  };
}

/** What a posting of the watcher's, x402's, the owner's or a payout's books, by its id; null of another posting. */
async function partOf(
  treasury: Pick<TreasuryStore, 'payout'>,
  network: string,
  id: string,
): Promise<{ readonly txHash: string; readonly ordinal: number | null } | null> {
  const after = (prefix: string): string | null => (id.startsWith(prefix) ? id.slice(prefix.length) : null);
  const transfer = /^(0x[0-9a-f]+):(0|[1-9]\d*)$/.exec(after(`transfer:${network}:`) ?? '');
  if (transfer?.[1] !== undefined) return { txHash: transfer[1], ordinal: Number(transfer[2]) };
  const payout = after(paidPostingId(''));
  const txHash =
    payout === null
      ? (after(ownId(network, '')) ?? after('x402:'))
      : ((await treasury.payout(payout))?.txHash ?? null);
  return txHash === null ? null : { txHash, ordinal: null };
}
