import type { Channel, ChannelStorage, ChannelUpdateResult } from '@x402/evm/batch-settlement/server';
import type { BaseUnits, PaymentStore } from '../payment-store.ts';

const PAGE = 100;

/** Keeps channels in the store. A change is a compare-and-swap, so any number of processes may serve one channel. */
export function channelStorage(payments: PaymentStore): ChannelStorage {
  return {
    async get(id) {
      const row = await payments.channel(id.toLowerCase());
      return row === null ? undefined : (JSON.parse(row.document) as Channel);
    },
    /** Lists those with something to claim, which is all that is asked for, a page at a time. */
    async list() {
      const rows = await payments.claimable('', PAGE);
      return rows.map(({ document }) => JSON.parse(document) as Channel);
    },
    updateChannel: (id, update) => updateChannel(payments, id.toLowerCase(), update),
  };
}

/**
 * What can be claimed of a channel since its beginning: no more than its deposits, which the payer may have taken back
 * before the last vouchers were claimed. The contract refuses a claim of more, and all claims that come with it.
 */
export function claimedUpTo({ chargedCumulativeAmount, balance, totalClaimed }: Channel): BaseUnits {
  const charged = BigInt(chargedCumulativeAmount);
  const deposited = BigInt(balance);
  const claimed = BigInt(totalClaimed);
  const most = charged < deposited ? charged : deposited;
  return most > claimed ? most : claimed;
}

async function updateChannel(
  payments: PaymentStore,
  id: string,
  update: (current: Channel | undefined) => Channel | undefined,
): Promise<ChannelUpdateResult> {
  for (;;) {
    const row = await payments.channel(id);
    const current = row === null ? undefined : (JSON.parse(row.document) as Channel);
    const next = update(current);
    if (next === current) return { channel: current, status: 'unchanged' };
    const version = row?.version ?? 0;
    if (next === undefined) {
      if (await payments.deleteChannel(id, version)) return { channel: undefined, status: 'deleted' };
      continue;
    }
    const claimable = claimedUpTo(next) - BigInt(next.totalClaimed);
    const document = JSON.stringify(next);
    if (await payments.putChannel({ id, version: version + 1, claimable, document })) {
      return { channel: next, status: 'updated' };
    }
  }
}
