import { randomUUID } from 'node:crypto';
import type { Agent } from '@tallystick/callers';
import {
  ENVELOPE_PROFILE,
  METERING_TERMS,
  type Profile,
  profileNamed,
  profiles,
  type SettlementReference,
  TallyError,
} from '@tallystick/core';
import type { EndpointPrice, IdempotencyRecord, PutOutcome, Received, Scheme } from '@tallystick/kit';
import {
  callerAccount,
  formatUsdc,
  type LedgerStore,
  type NanoUsdc,
  parseUsdc,
  REVENUE,
} from '@tallystick/ledger';
import {
  type PaymentResult,
  type Payments,
  type PricedOrder,
  toBaseUnits,
  toNanoUsdc,
} from '@tallystick/payments';
import type { Terms } from './issue.ts';
import { prepaidTerms, type TermsContext, x402Terms } from './terms.ts';

interface ReceiptOrder {
  readonly profile: Priced;
  readonly agent: Agent;
  readonly path: string;
  readonly requestHash: string;
}

interface Paying extends TermsContext {
  readonly payments: Payments;
}

/** What has a price. */
type Priced = Profile | 'metering';

/** What a receipt costs, and how x402 may pay for it. A metering receipt is kept as long as pq, and paid for like it. */
const priceOf = (name: Priced): { readonly priceUsd: string; readonly schemes: readonly Scheme[] } =>
  name === 'metering' ? { ...METERING_TERMS, schemes: ['exact'] } : profileNamed(name);

/** As the endpoint that emits receipts declares it. */
export const RECEIPT_PRICE = {
  usd: Object.fromEntries(profiles.map(({ name, priceUsd }) => [name, priceUsd])),
  unit: 'receipt',
  schemes: Object.fromEntries(profiles.map(({ name, schemes }) => [name, schemes])),
} as const satisfies EndpointPrice;

/** As the endpoint that mints metering receipts declares it. */
export const METERING_PRICE = {
  usd: priceOf('metering').priceUsd,
  unit: 'receipt',
  schemes: priceOf('metering').schemes,
} as const satisfies EndpointPrice;

/** As the endpoints that sign a session's receipts declare it: each is an envelope, which is of the profile standard. */
export const STEP_PRICE = {
  usd: priceOf(ENVELOPE_PROFILE).priceUsd,
  unit: 'receipt',
  schemes: priceOf(ENVELOPE_PROFILE).schemes,
} as const satisfies EndpointPrice;

/** How long money that is about to be taken stays reserved, in seconds. */
const RESERVED_SECONDS = 30;

/**
 * Takes the price of a receipt, or makes sure of it: from the balance of a DID that is proved, else by x402. Resolves to
 * the terms under which the receipt is issued, and to what ties it to the payment, where it is by x402.
 * @throws payment_required and what else `Payments.charge` throws
 */
export async function payForReceipt(
  context: Paying,
  received: Received,
  order: ReceiptOrder,
): Promise<{ readonly terms: Terms; readonly claim: IdempotencyRecord | undefined }> {
  const { payments, store } = context;
  const { profile, agent } = order;
  const price = parseUsdc(priceOf(profile).priceUsd);
  if (agent.proved) {
    const account = callerAccount(agent.did);
    const { balance, reserved } = await store.ledger.balance(account);
    if (balance - reserved >= price) {
      const put = storePrepaid(context, { account, price, profile, subject: agent.did });
      return { terms: prepaidTerms(context, { account, put }), claim: undefined };
    }
  }
  const paid = await payments.charge(received, orderOf(order));
  return { terms: x402Terms(context, { paid, settlement: settlementOf(payments, paid) }), claim: paid.claim };
}

/** What a receipt costs, as an order of x402. */
export function orderOf({ profile, path, requestHash }: Omit<ReceiptOrder, 'agent'>): PricedOrder {
  return {
    path,
    description: `A ${profile} receipt`,
    schemes: priceOf(profile).schemes,
    requestHash,
    amount: toBaseUnits(parseUsdc(priceOf(profile).priceUsd)),
    credit: REVENUE,
  };
}

/** A stand-in of the size that the settlement in the receipt will have, for what is tried before the payment is taken. */
export function likeSettlement(payments: Payments, profile: Priced): SettlementReference | null {
  const { priceUsd, schemes } = priceOf(profile);
  const tx = schemes.includes('exact') ? `0x${'0'.repeat(64)}` : null;
  return settlementOf(payments, { tx, amount: toBaseUnits(parseUsdc(priceUsd)) });
}

/** What the transaction moved, as the receipt says it; a voucher has moved nothing yet. */
function settlementOf(
  { chainId }: Payments,
  { tx, amount }: Pick<PaymentResult, 'tx' | 'amount'>,
): SettlementReference | null {
  if (tx === null) return null;
  const rail = { rail: 'x402', chain_id: chainId, asset: 'USDC' };
  return { ...rail, status: 'confirmed', tx, amount: formatUsdc(toNanoUsdc(amount)) };
}

interface Prepaid {
  readonly account: string;
  readonly price: NanoUsdc;
  readonly profile: Priced;
  readonly subject: string;
}

/** Keeps a receipt and takes its price from the balance, in one. */
function storePrepaid({ store, clock }: Paying, { account, price, profile, subject }: Prepaid): Terms['put'] {
  return async (receipt, idempotency) => {
    const id = `receipt:${randomUUID()}`;
    const at = Math.floor(clock() / 1000);
    const held = await store.ledger.reserve({ id, account, amount: price, expiresAt: at + RESERVED_SECONDS });
    if (held.kind !== 'reserved') throw spent(price, held.kind === 'insufficient' ? held.available : 0n);
    const outcome = await store.ledger.settle({
      id: receipt.id,
      reservationId: id,
      at,
      entries: [
        { account, amount: -price },
        { account: REVENUE, amount: price },
      ],
      dust: held.dust,
      usage: {
        subject,
        model: `receipt/${profile}`,
        promptTokens: 0,
        completionTokens: 0,
        cachedTokens: 0,
        charged: price,
        share: 0n,
        savedTokens: 0,
        saving: 0n,
      },
      jobOf: null,
      receipt,
      idempotency,
    });
    return putOutcome(outcome);
  };
}

function putOutcome(outcome: Awaited<ReturnType<LedgerStore['settle']>>): PutOutcome {
  if (outcome === 'settled' || outcome === 'settled_before') return { kind: 'stored' };
  if (outcome === 'unreserved')
    throw new TallyError('unavailable', 'The receipt could not be billed. Try again.');
  return typeof outcome === 'string' ? { kind: outcome } : outcome;
}

function spent(price: NanoUsdc, available: NanoUsdc): TallyError {
  return new TallyError(
    'insufficient_balance',
    `The receipt costs ${formatUsdc(price)} USDC, and only ${formatUsdc(available)} USDC are available.`,
  );
}
