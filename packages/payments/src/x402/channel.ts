import type { Channel, ChannelStorage } from '@x402/evm/batch-settlement/server';
import type { BaseUnits } from '../payment-store.ts';
import type { X402Context } from './x402-context.ts';

/** What one voucher takes from a channel. */
export interface ChannelCharge {
  readonly channelId: string;
  /** What the channel was charged before. No two charges have the same, so each is made once. */
  readonly base: BaseUnits;
  readonly amount: BaseUnits;
  /** The voucher's own limit and signature, which are stored for the claim. */
  readonly most: BaseUnits;
  readonly signature: string;
  /** Id of the place in the channel that its verification reserved. */
  readonly pendingId: string | null;
}

/** Charges a channel and frees its place. False where another voucher has changed the channel. */
export async function chargeChannel(storage: ChannelStorage, charge: ChannelCharge): Promise<boolean> {
  const { channelId, base, amount, most, signature, pendingId } = charge;
  let done = false;
  await storage.updateChannel(channelId, (current) => {
    done = current !== undefined && BigInt(current.chargedCumulativeAmount) === base;
    if (current === undefined || !done) return current;
    const { pendingRequest, ...rest } = current;
    const isOthers = pendingRequest !== undefined && pendingRequest.pendingId !== pendingId;
    return {
      ...rest,
      ...(isOthers && { pendingRequest }),
      ...(amount > 0n && { signedMaxClaimable: String(most), signature }),
      chargedCumulativeAmount: String(base + amount),
      lastRequestTimestamp: Date.now(),
    };
  });
  return done;
}

/** Updates the stored deposits and claims of a channel from the chain. */
export async function syncChannel(
  { vouchers, channels }: X402Context,
  channelId: string,
): Promise<Channel | undefined> {
  const { balance, totalClaimed } = await channels.read(channelId);
  const { channel } = await vouchers.getStorage().updateChannel(channelId, (current) =>
    current === undefined
      ? current
      : {
          ...current,
          balance: String(balance),
          totalClaimed: String(totalClaimed),
          onchainSyncedAt: Date.now(),
        },
  );
  return channel;
}

/** A channel's state in the form in which x402 tells it to its payer. */
export function channelState(channel: Channel, charged: BaseUnits) {
  return {
    channelId: channel.channelId,
    balance: channel.balance,
    totalClaimed: channel.totalClaimed,
    withdrawRequestedAt: channel.withdrawRequestedAt,
    refundNonce: String(channel.refundNonce),
    chargedCumulativeAmount: String(charged),
  };
}
