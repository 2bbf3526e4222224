import type { PaymentRow } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import { postingId } from './chain-watch.ts';
import { promisedAccount, type TreasuryTransfer } from './payments.ts';
import { resolve, resolveExact } from './sweep.ts';
import { seconds, type X402Context } from './x402-context.ts';

/** See {@link Payments.ownerOf}. */
export async function ownerOf(
  x402: X402Context,
  transfer: TreasuryTransfer,
): Promise<'x402' | 'wait' | null> {
  const { store, channels } = x402;
  if (transfer.sender === channels.contract) {
    await postClaimed(x402, transfer);
    return 'x402';
  }
  const settled = await store.payments.findByTx(transfer.txHash);
  if (settled.some((row) => isOf(row, transfer))) return 'x402';
  for (const row of await candidates(x402, transfer)) {
    const isLive = row.state !== 'failed' && row.state !== 'owed' && row.leaseUntil > seconds(x402.clock);
    if (isLive) return 'wait';
    const ended = row.state === 'failed' ? await resolveExact(x402, row) : await resolve(x402, row);
    if (ended.tx === transfer.txHash) return 'x402';
  }
  return null;
}

function isOf(row: PaymentRow, { sender, amount }: TreasuryTransfer): boolean {
  return row.payer === sender && (row.scheme === 'upto' ? row.charged : row.amount) === amount;
}

/** The payments whose transfer it could be. Failed ones are among them: the facilitator may have wrongly called them failed. */
async function candidates({ store }: X402Context, transfer: TreasuryTransfer): Promise<PaymentRow[]> {
  const rows = await store.payments.openOf(transfer.sender);
  return rows.filter((row) => isOf(row, transfer) && (row.scheme === 'exact' || row.state === 'owed'));
}

/** Posts what vouchers had promised and the contract has paid. */
export async function postClaimed(
  x402: X402Context,
  { txHash, ordinal, amount }: Omit<TreasuryTransfer, 'sender'>,
): Promise<void> {
  const { chain, store, clock } = x402;
  const nanoUsdc = toNanoUsdc(amount);
  await store.ledger.post({
    id: postingId(chain.network, txHash, ordinal),
    memo: `x402 vouchers ${txHash}`,
    at: seconds(clock),
    entries: [
      { account: `chain:${chain.network}`, amount: -nanoUsdc },
      { account: promisedAccount(chain.network), amount: nanoUsdc },
    ],
  });
}
