import { hash } from 'node:crypto';
import { canonicalize, mintEnvelope } from '@tallystick/core';
import { formatUsdc } from '../../compute/ledger/money.ts';
import type { OperatorFacts } from '../../config.ts';
import { issueDurably, type ReceiptContext } from '../../receipts/mint.ts';
import { ownOperation } from '../../receipts/operator-facts.ts';
import { claimOf } from './known.ts';
import { toNano } from './payments.ts';
import type { LateSettlement } from './till.ts';

interface SettlementContext extends ReceiptContext {
  readonly network: string;
  readonly operator: OperatorFacts;
}

/**
 * Mints the receipt of a settlement that followed its delivery: an envelope that names the transaction and, by its id,
 * the receipt of what was delivered. The same payment gets the same one.
 */
export function settlementReceipts({ network, operator, ...context }: SettlementContext) {
  const { store, issuer, clock } = context;
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
        amount: formatUsdc(toNano(amount)),
        asset: 'USDC',
        chain: network,
        tx,
        payer,
        payment: paymentId,
        ...(receiptId !== null && { receipt_id: receiptId }),
      },
    };
    const claim = claimOf(paymentId, hash('sha256', `settlement ${paymentId}`), Math.floor(clock() / 1000));
    const { receipt } = await issueDurably(
      { store, issuer, clock },
      'env',
      { idempotency: claim },
      (issuance) => mintEnvelope(facts, issuance, issuer.signer('receipt')),
    );
    return (JSON.parse(receipt) as { receipt_id: string }).receipt_id;
  };
}
