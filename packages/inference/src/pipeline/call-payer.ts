import type { Caller, PayingKey, Spender } from '@tallystick/callers';
import { DEVELOPMENT, X402 } from '@tallystick/ledger';
import { paymentAccount } from '@tallystick/payments';

/** The account that pays for a call, and the subject of its usage. */
export interface CallPayer {
  readonly account: string;
  readonly subject: string;
  readonly agent: { readonly did: string | null; readonly proved: boolean };
  /** Null if no API key pays. */
  readonly key: PayingKey | null;
  /** Tells callers apart who share the account. */
  readonly name: string;
  readonly spenders: readonly Spender[];
  /** The kind of the account that finally pays: `api_key`, `did`, `x402` or `development`. */
  readonly kindOf: (account: string) => string;
}

export function payerOf({ account: own, key, did, proved, name, spenders }: Caller): CallPayer {
  const kind = key === null ? 'did' : 'api_key';
  return {
    account: own,
    subject: did ?? key?.id ?? (own === X402 ? X402 : DEVELOPMENT),
    agent: { did, proved },
    key,
    name,
    spenders,
    kindOf: (account) =>
      account === DEVELOPMENT || account === X402 ? account : account.startsWith(PAID) ? X402 : kind,
  };
}

const PAID = paymentAccount('');
