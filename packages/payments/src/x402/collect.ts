import type { Channel } from '@x402/evm/batch-settlement/server';
import type { BaseUnits, ChannelRow } from '../payment-store.ts';
import { waitFor } from './chain-watch.ts';
import { syncChannel } from './channel.ts';
import { claimedUpTo } from './channel-storage.ts';
import { postClaimed } from './owner.ts';
import { type Collected, promisedAccount } from './payments.ts';
import type { X402Context } from './x402-context.ts';

/** Number of channels in one claim. */
const AT_ONCE = 100;

/**
 * See {@link Payments.collect}. Nothing is taken over from what a facilitator reports: channels are read from the chain
 * again, and what came to the treasury is posted.
 */
export async function collect(x402: X402Context): Promise<Collected | null> {
  const { store, chain, treasury, channels } = x402;
  const { balance } = await store.ledger.balance(promisedAccount(chain.network));
  if (balance === 0n) return null;
  const { number: last } = await chain.head();
  let claimed = false;
  let after = '';
  for (;;) {
    const rows = await store.payments.claimable(after, AT_ONCE);
    if (await claim(x402, rows)) claimed = true;
    after = rows.at(-1)?.id ?? '';
    if (rows.length < AT_ONCE) break;
  }
  await send(x402, { type: 'settle', receiver: treasury, token: chain.usdc });
  let amount: BaseUnits = 0n;
  let tx: string | null = null;
  const checkCollected = async (): Promise<true | null> => {
    const { number: toBlock } = await chain.head();
    if (toBlock === last) return null;
    for await (const transfer of chain.transfers({ to: treasury, fromBlock: last + 1, toBlock })) {
      if (transfer.from !== channels.contract) continue;
      await postClaimed(x402, transfer);
      amount += transfer.amount;
      tx = transfer.txHash;
    }
    return tx === null ? null : true;
  };
  await waitFor(checkCollected, claimed ? x402.seeMs : 0, x402.everyMs);
  return tx === null ? null : { amount, tx };
}

/** Claims what channels owe and their deposits cover. Resolves to whether there was anything to claim. */
async function claim(x402: X402Context, rows: readonly ChannelRow[]): Promise<boolean> {
  const owing: Channel[] = [];
  for (const { document } of rows) {
    const stored = JSON.parse(document) as Channel;
    const channel = (await syncChannel(x402, stored.channelId)) ?? stored;
    const { channelId, chargedCumulativeAmount: charged } = channel;
    const upTo = claimedUpTo(channel);
    if (upTo < BigInt(charged)) {
      const short = String(BigInt(charged) - upTo);
      x402.logger.error({ channel: channelId, short }, 'a payer took back the deposit that vouchers were on');
    }
    if (upTo > BigInt(channel.totalClaimed)) owing.push(channel);
  }
  if (owing.length === 0) return false;
  const isRefused = await send(x402, { type: 'claim', claims: owing.map(claimOf) });
  // The contract takes all claims of one transaction or none, so that one that is not good would stop all others.
  if (isRefused && owing.length > 1) {
    for (const channel of owing) await send(x402, { type: 'claim', claims: [claimOf(channel)] });
  }
  for (const { channelId } of owing) await syncChannel(x402, channelId);
  return true;
}

function claimOf(channel: Channel) {
  return {
    voucher: { channel: channel.channelConfig, maxClaimableAmount: channel.signedMaxClaimable },
    signature: channel.signature,
    totalClaimed: String(claimedUpTo(channel)),
  };
}

/** Resolves to whether the facilitator refused, and sent nothing. */
async function send(x402: X402Context, payload: Record<string, unknown>): Promise<boolean> {
  const { chain, treasury, facilitator, logger } = x402;
  const accepted = {
    scheme: 'batch-settlement',
    network: chain.network,
    asset: chain.usdc,
    amount: '0',
    payTo: treasury,
    maxTimeoutSeconds: 0,
    extra: {},
  };
  try {
    const response = await facilitator.settle({ x402Version: 2, accepted, payload }, accepted);
    if (!response.success)
      logger.warn({ type: payload['type'], reason: response.errorReason }, 'a facilitator refused');
    return !response.success && response.transaction === '';
  } catch (error) {
    logger.warn({ err: error, type: payload['type'] }, 'a facilitator gave no answer');
    return false;
  }
}
