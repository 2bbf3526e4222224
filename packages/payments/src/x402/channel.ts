import type { Channel, ChannelStorage } from '@x402/evm/batch-settlement/server';
import type { BaseUnits } from '../payment-store.ts';
import type { X402Context } from './x402-context.ts';

/** What is taken of a channel by one voucher. */
export interface ChannelCharge {
  readonly channelId: string;
  /** What the channel was charged with before it: as no two charges have the same, it happens once. */
  readonly base: BaseUnits;
  readonly amount: BaseUnits;
  /** The voucher's own ceiling and signature, which are kept for the claim. */
  readonly most: BaseUnits;
  readonly signature: string;
  /** Of the place that its verification took. */
  readonly pendingId: string | null;
}

/** Charges a channel and frees its place. False where the channel has moved on, by another voucher. */
export async function chargeChannel(storage: ChannelStorage, charge: ChannelCharge): Promise<boolean> {
  const { channelId, base, amount, most, signature, pendingId } = charge;
  let done = false;
  await storage.updateChannel(channelId, (current) => {
    done = current !== undefined && BigInt(current.chargedCumulativeAmount) === base;
    if (current === undefined || !done) return current;
    const { pendingRequest, ...rest } = current;
    const kept = pendingRequest !== undefined && pendingRequest.pendingId !== pendingId;
    return {
      ...rest,
      ...(kept && { pendingRequest }),
      ...(amount > 0n && { signedMaxClaimable: String(most), signature }),
      chargedCumulativeAmount: String(base + amount),
      lastRequestTimestamp: Date.now(),
    };
  });
  return done;
}

/** Brings what is known of a channel's deposits and claims to what the chain has. */
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

/** A channel's state as x402 gives it to its payer. */
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
