import { hash } from 'node:crypto';
import { canonicalize, mintEnvelope } from '@tallystick/core';
import { UNHEARD } from '@tallystick/kit';
import type { Claims, LedgerStore } from '@tallystick/ledger';
import { formatUsdc } from '@tallystick/ledger';
import type { LateSettlement } from '@tallystick/payments';
import { claimOf, toNanoUsdc } from '@tallystick/payments';
import { issue, NOBODY } from './issue.ts';
import { draft, type SigningContext } from './mint.ts';
import type { OperatorFacts } from './operator-facts.ts';
import { ownOperation } from './operator-facts.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { freeTerms } from './terms.ts';

interface SettlementContext extends SigningContext {
  readonly store: ReceiptStore & { readonly ledger: LedgerStore };
  readonly claims: Pick<Claims, 'take'>;
  readonly network: string;
  readonly operator: OperatorFacts;
}

/**
 * Mints the receipt of a settlement that followed its delivery: an envelope that names the transaction and, by its id,
 * the receipt of what was delivered. The same payment gets the same one.
 */
export function settlementReceipts({ network, operator, ...context }: SettlementContext) {
  const { issuer, clock } = context;
  return async ({ paymentId, receiptId, tx, amount, payer }: LateSettlement): Promise<string> => {
    const settles = { payment: paymentId, receipt_id: receiptId };
    const facts = {
      request: {
        hash: `sha256:${hash('sha256', canonicalize(settles))}`,
        origin: null,
        purpose: 'settlement',
        policy_hash: null,
      },
      ...ownOperation(issuer.did, operator),
      response: { hash: null, sealed: null },
      settlement: {
        account: 'x402',
        amount: formatUsdc(toNanoUsdc(amount)),
        asset: 'USDC',
        chain: network,
        tx,
        payer,
        payment: paymentId,
        ...(receiptId !== null && { receipt_id: receiptId }),
      },
    };
    const claim = claimOf(paymentId, hash('sha256', `settlement ${paymentId}`), Math.floor(clock() / 1000));
    const { id } = await issue(context, UNHEARD, {
      claim,
      terms: freeTerms(context),
      owner: NOBODY,
      sign: () =>
        draft(context, 'env', (issuance) => mintEnvelope(facts, issuance, issuer.signer('receipt'))),
    });
    return id;
  };
}
