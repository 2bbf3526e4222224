import type { PaymentRow } from '../payment-store.ts';
import { postingId } from './chain-watch.ts';
import { promisedAccount, type TreasuryTransfer, toNano } from './payments.ts';
import { resolve, resolveExact } from './sweep.ts';
import { seconds, type Till } from './till.ts';

/** See {@link Payments.ownerOf}. */
export async function ownerOf(till: Till, transfer: TreasuryTransfer): Promise<'x402' | 'wait' | null> {
  const { store, channels } = till;
  if (transfer.sender === channels.contract) {
    await postClaimed(till, transfer);
    return 'x402';
  }
  const settled = await store.payments.findByTx(transfer.txHash);
  if (settled.some((row) => isOf(row, transfer))) return 'x402';
  for (const row of await candidates(till, transfer)) {
    const isLive = row.state !== 'failed' && row.state !== 'owed' && row.leaseUntil > seconds(till.clock);
    if (isLive) return 'wait';
    const ended = row.state === 'failed' ? await resolveExact(till, row) : await resolve(till, row);
    if (ended.tx === transfer.txHash) return 'x402';
  }
  return null;
}

function isOf(row: PaymentRow, { sender, amount }: TreasuryTransfer): boolean {
  return row.payer === sender && (row.scheme === 'upto' ? row.charged : row.amount) === amount;
}

/** Payments whose transfer it could be. One that failed is among them: the facilitator may have said so wrongly. */
async function candidates({ store }: Till, transfer: TreasuryTransfer): Promise<PaymentRow[]> {
  const rows = await store.payments.openOf(transfer.sender);
  return rows.filter((row) => isOf(row, transfer) && (row.scheme === 'exact' || row.state === 'owed'));
}

/** What vouchers had promised has come. */
export async function postClaimed(
  till: Till,
  { txHash, ordinal, amount }: Omit<TreasuryTransfer, 'sender'>,
): Promise<void> {
  const { chain, store, clock } = till;
  const nano = toNano(amount);
  await store.ledger.post({
    id: postingId(chain.network, txHash, ordinal),
    memo: `x402 vouchers ${txHash}`,
    at: seconds(clock),
    entries: [
      { account: `chain:${chain.network}`, amount: -nano },
      { account: promisedAccount(chain.network), amount: nano },
    ],
  });
}
