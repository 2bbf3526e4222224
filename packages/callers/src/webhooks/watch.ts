import { formatTimestamp, toHex } from '@tallystick/core';
import type { CounterStore } from '@tallystick/kit';
import { formatUsdc, type LedgerStore, type NanoUsdc } from '@tallystick/ledger';
import type { ChainPosting, LogStore } from '@tallystick/log';
import { webhookMessage } from './events.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface WatchDependencies {
  readonly store: Pick<CounterStore, 'consume'> & {
    readonly webhooks: WebhookStore;
    readonly ledger: Pick<LedgerStore, 'balance'>;
    readonly log: Pick<LogStore, 'pageOfPostings'>;
  };
  /** Below this, a balance is low. */
  readonly lowBalance: NanoUsdc;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Milliseconds in which the processes of a store look once, together. */
const INTERVAL_MS = 10_000;
const PAGE = 500;
const POSTINGS = 100;
const FINAL = 'anchor.final';

/**
 * Looks for what no request announces: balances that run low, and postings that are final. The first process of a store
 * that asks in an interval looks; what was told is marked in the transaction that stores the messages.
 */
export function createWebhookWatch({ store, lowBalance, clock }: WatchDependencies): {
  step(): Promise<void>;
} {
  async function tellBalances(): Promise<void> {
    let page: string[];
    let last = '';
    do {
      page = await store.webhooks.owners('balance.low', last, PAGE);
      for (const owner of page) await tellBalance(owner);
      last = page.at(-1) ?? last;
    } while (page.length === PAGE);
  }

  async function tellBalance(owner: string): Promise<void> {
    if (!owner.startsWith('caller:')) return;
    const { balance, reserved, lines } = await store.ledger.balance(owner);
    const available = balance - reserved;
    // An account without lines never had money paid in.
    const state = lines > 0 && available < lowBalance ? 'low' : 'ok';
    const name = `balance:${owner}`;
    const from = await store.webhooks.mark(name);
    if ((from ?? 'ok') === state) return;
    const mark = { name, from, to: state };
    if (state === 'ok') return void (await store.webhooks.setMark(mark));
    const at = clock();
    const data = { account: owner, available: formatUsdc(available), low_below: formatUsdc(lowBalance) };
    const message = webhookMessage('balance.low', { occasion: `${owner} ${at}`, at, data });
    await store.webhooks.emit(message, owner, mark);
  }

  async function tellPostings(): Promise<void> {
    const from = await store.webhooks.mark(FINAL);
    const final = (
      await store.log.pageOfPostings({
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
        before: Number.MAX_SAFE_INTEGER,
        limit: POSTINGS,
      })
    )
      .filter(({ state, sequence }) => state === 'finalized' && sequence > Number(from ?? -1))
      .toReversed();
    // What was final before anybody looked is no news.
    if (from === null) {
      await store.webhooks.setMark({ name: FINAL, from, to: String(final.at(-1)?.sequence ?? 0) });
      return;
    }
    let told = from;
    for (const posting of final) {
      const to = String(posting.sequence);
      await store.webhooks.emit(finalMessage(posting, clock()), null, { name: FINAL, from: told, to });
      told = to;
    }
  }

  return {
    async step() {
      const slot = Math.floor(clock() / INTERVAL_MS);
      const expiresAt = Math.ceil(((slot + 2) * INTERVAL_MS) / 1_000);
      if (!(await store.consume(`webhooks:${slot}`, 1, expiresAt)).allowed) return;
      await tellBalances();
      await tellPostings();
    },
  };
}

/** Every hash whose leaf index is below `tree_size` is anchored by this posting, or by an earlier one. */
function finalMessage({ sequence, size, root, place }: ChainPosting, at: number) {
  const data = {
    sequence,
    tree_size: size,
    root: toHex(root),
    tx_hash: place && place.txHash,
    block_height: place && place.blockHeight,
    block_time: place && formatTimestamp(place.blockTime * 1_000),
  };
  return webhookMessage(FINAL, { occasion: `${sequence} ${toHex(root)}`, at, data });
}
