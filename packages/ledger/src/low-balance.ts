import { TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import type { LedgerStore, NanoUsdc } from './ledger-store.ts';
import { formatUsdc } from './money.ts';

interface LowBalanceDependencies {
  readonly store: { readonly ledger: Pick<LedgerStore, 'balance'> };
  readonly config: { readonly sales: { readonly lowBalance: NanoUsdc } };
}

/** The response header that tells `showLowBalance`'s fact, for the API reference. */
export const LOW_BALANCE_HEADER = {
  'X-Balance-Low':
    'Available balance of the paying account, in USDC; sent when it is below the threshold that GET /v1/balance names.',
};

/**
 * Notes the balance of a prepaid account that runs low, so that its holder can pay in before it is empty. Nothing is noted
 * while the database is unavailable: an answer that is delivered and billed must not fail because of it.
 * @param atLeast amount known to be available, which saves a query if it is enough; else null
 */
export async function showLowBalance(
  { store, config }: LowBalanceDependencies,
  { account, atLeast }: { readonly account: string; readonly atLeast: NanoUsdc | null },
  { incoming }: Received,
): Promise<void> {
  if (!account.startsWith('caller:')) return;
  if (atLeast !== null && atLeast >= config.sales.lowBalance) return;
  const found = await store.ledger.balance(account).catch((error: unknown) => {
    if (error instanceof TallyError && error.code === 'unavailable') return null;
    throw error;
  });
  if (found === null) return;
  const { balance, reserved, lines } = found;
  const available = balance - reserved;
  // An account without lines never had money paid in.
  if (lines > 0 && available < config.sales.lowBalance)
    incoming.note({ kind: 'low_balance', available: formatUsdc(available) });
}
