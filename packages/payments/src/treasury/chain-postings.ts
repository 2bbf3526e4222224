import type { LedgerStore } from '@tallystick/ledger';
import { paidPostingId } from '../payouts/postings.ts';
import type { BaseUnits, TreasuryStore } from '../treasury-store.ts';
import { chainAccount, ownId } from './accounts.ts';
import type { Matcher, Posting } from './match.ts';
import { toNanoUsdc } from './units.ts';

/** The postings of a chain's account, in the order in which they were made. */
interface ChainPostings {
  /** Reads on while the chain has shown what was not read here, but not far ahead of the chain. */
  catchUp(): Promise<void>;
  /** Reads to the end. */
  finish(): Promise<void>;
  /** What was read so far. */
  soFar(): {
    /** Base units. */
    readonly sum: BaseUnits;
    readonly count: number;
    /** Those that book no transaction, and no opening. */
    readonly unknown: readonly Posting[];
  };
}

/** Number of postings that are read at once, and that may wait for the chain while it is read. */
const PAGE = 200;

/** Reads the postings of a chain's account, and hands those that book transactions to the matcher. */
export function openPostings(
  { ledger, treasury }: { readonly ledger: LedgerStore; readonly treasury: TreasuryStore },
  { network, openings, matcher }: { network: string; openings: readonly string[]; matcher: Matcher },
): ChainPostings {
  let after = 0;
  let sum = 0n;
  const unknown: Posting[] = [];

  /** Reads a page. Resolves to false at the end. */
  async function readPage(): Promise<boolean> {
    const lines = await ledger.statement(chainAccount(network), { after, limit: PAGE });
    for (const { line, posting: id, amount: credited } of lines) {
      const amount = -credited / toNanoUsdc(1n);
      after = line;
      sum += amount;
      if (openings.includes(id)) continue;
      const part = await partOf(treasury, network, id);
      if (part === null) unknown.push({ id, amount });
      else matcher.addPosting(part.txHash, { id, amount, ordinal: part.ordinal });
    }
    return lines.length > 0;
  }

  return {
    async catchUp() {
      while (matcher.moves.size > 0 && matcher.postings.size < PAGE) if (!(await readPage())) return;
    },
    async finish() {
      while (await readPage());
    },
    soFar: () => ({ sum, count: after, unknown }),
  };
}

/** What a posting of the watcher's, x402's, the owner's or a payout's books, by its id; null of another posting. */
async function partOf(
  treasury: TreasuryStore,
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
