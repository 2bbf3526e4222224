import type { CompressionTotals, UsageRow } from '@tallystick/ledger';
import type { Account } from './ledger-tables.ts';

/** A row whose amounts are still text. */
type Raw<Row> = { [Key in keyof Row]: Row[Key] extends bigint ? string : Row[Key] };

export function accountFrom({ account, balance, reserved, dust, lines }: Raw<Account>): Account {
  return { account, balance: BigInt(balance), reserved: BigInt(reserved), dust: BigInt(dust), lines };
}

export function usageFrom(row: Raw<UsageRow>): UsageRow {
  return { ...row, charged: BigInt(row.charged), saving: BigInt(row.saving), share: BigInt(row.share) };
}

type CompressionSums = Record<keyof Omit<CompressionTotals, 'methods'>, string>;

/** Compression totals from sums, which are text. */
export function compressionFrom(
  sums: CompressionSums | undefined,
  methods: readonly { method: string; calls: string; tokens: string }[],
): CompressionTotals {
  return {
    calls: Number(sums?.calls ?? 0),
    changedCalls: Number(sums?.changedCalls ?? 0),
    tokensBefore: Number(sums?.tokensBefore ?? 0),
    tokensAfter: Number(sums?.tokensAfter ?? 0),
    lostCacheTokens: Number(sums?.lostCacheTokens ?? 0),
    saving: BigInt(sums?.saving ?? 0),
    share: BigInt(sums?.share ?? 0),
    methods: methods.map(({ method, calls, tokens }) => ({
      method,
      calls: Number(calls),
      tokens: Number(tokens),
    })),
  };
}
