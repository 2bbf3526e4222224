import type { LedgerStore, Settlement } from '../../ledger/src/ledger-store.ts';

export const NOW = 1_800_000_000;
export const ACCOUNT = 'caller:key_a';

export function credit(
  ledger: LedgerStore,
  account: string,
  amount: bigint,
  id = `credit ${account} ${amount}`,
): ReturnType<LedgerStore['post']> {
  const entries = [
    { account: 'external', amount: -amount },
    { account, amount },
  ];
  return ledger.post({ id, memo: 'paid in', at: NOW, entries });
}

export function reserve(ledger: LedgerStore, id: string, amount: bigint, account = ACCOUNT) {
  return ledger.reserve({ id, account, amount, expiresAt: NOW + 600 });
}

/** A call that costs `charge`, which goes to a provider, and that ends the reservation of its id. */
export function settlement(
  id: string,
  charge: bigint,
  { account = ACCOUNT, ...change }: Partial<Settlement> & { account?: string } = {},
): Settlement {
  const usage = {
    subject: 'did:web:a',
    model: 'openai/small',
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 2,
    charged: charge,
    savedTokens: 0,
    saving: 0n,
    share: 0n,
  };
  return {
    id,
    reservationId: id,
    at: NOW,
    entries: [
      { account, amount: -charge },
      { account: 'provider:openai', amount: charge },
    ],
    dust: 0n,
    usage,
    jobOf: null,
    receipt: {
      id,
      profile: 'standard',
      tenant: null,
      body: `{"id":"${id}"}`,
      issuedAt: NOW,
      expiresAt: NOW + 1_000,
    },
    ...change,
  };
}
