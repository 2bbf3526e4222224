import type { UsageRow } from './ledger-store.ts';
import type { Account, Reservation } from './ledger-tables.ts';

/** A row whose amounts are still text. */
type Raw<Row> = { [Key in keyof Row]: Row[Key] extends bigint ? string : Row[Key] };

export function accountFrom({ account, balance, reserved, dust, lines }: Raw<Account>): Account {
  return { account, balance: BigInt(balance), reserved: BigInt(reserved), dust: BigInt(dust), lines };
}

export function reservationFrom({ id, account, amount, dust, expiresAt }: Raw<Reservation>): Reservation {
  return { id, account, amount: BigInt(amount), dust: BigInt(dust), expiresAt };
}

export function usageFrom(row: Raw<UsageRow>): UsageRow {
  return { ...row, charged: BigInt(row.charged), share: BigInt(row.share) };
}
