import { randomUUID } from 'node:crypto';
import { type Profile, profileNamed, profiles, type SettlementReference, TallyError } from '@tallystick/core';
import type { Agent } from '../agents/agents.ts';
import { callerAccount, REVENUE } from '../compute/ledger/accounts.ts';
import { formatUsdc, parseUsdc } from '../compute/ledger/money.ts';
import type { Exchange } from '../http/exchange.ts';
import type { EndpointPrice } from '../http/price.ts';
import { type Paid, type Payments, toBaseUnits, toNano } from '../payments/x402/payments.ts';
import type { NanoUsdc } from '../store/ledger-store.ts';
import type { PutOutcome, Store } from '../store/store.ts';

/** How a receipt is paid for that no API key pays. */
export interface ReceiptPayment {
  /** Of x402; null where a prepaid balance pays. */
  readonly paid: Paid | null;
  /** Whose prepaid balance pays; null of x402. */
  readonly account: string | null;
  /** Stores the receipt and takes its price, in one. Of a prepaid balance. */
  readonly put: Store['putReceipt'] | undefined;
  readonly settlement: SettlementReference | null;
}

interface Asked {
  readonly profile: Profile;
  readonly agent: Agent;
  readonly path: string;
  readonly requestHash: string;
}

interface Means {
  readonly payments: Payments;
  readonly store: Pick<Store, 'ledger'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** As the endpoint that emits receipts declares it. */
export const RECEIPT_PRICE = {
  usd: Object.fromEntries(profiles.map(({ name, priceUsd }) => [name, priceUsd])),
  unit: 'receipt',
  schemes: Object.fromEntries(profiles.map(({ name, schemes }) => [name, schemes])),
} as const satisfies EndpointPrice;

/** How long money that is about to be taken stays reserved, in seconds. */
const RESERVED_SECONDS = 30;

/**
 * Takes the price of a receipt, or makes sure of it: from the balance of a DID that is proved, else by x402.
 * @throws payment_required and what else `Payments.charge` throws
 */
export async function payForReceipt(
  means: Means,
  exchange: Pick<Exchange, 'c' | 'headers'>,
  asked: Asked,
): Promise<ReceiptPayment> {
  const { payments, store } = means;
  const { profile, agent, path, requestHash } = asked;
  const price = parseUsdc(profileNamed(profile).priceUsd);
  if (agent.proved && agent.did !== null) {
    const account = callerAccount(agent.did);
    const { balance, reserved } = await store.ledger.balance(account);
    if (balance - reserved >= price) return prepaid(means, { account, price, profile, subject: agent.did });
  }
  const paid = await payments.charge(exchange, {
    path,
    description: `A ${profile} receipt`,
    schemes: profileNamed(profile).schemes,
    requestHash,
    amount: toBaseUnits(price),
    credit: REVENUE,
  });
  return { paid, account: null, put: undefined, settlement: settlementOf(payments, paid) };
}

/** What the transaction moved, as the receipt says it; a voucher has moved nothing yet. */
function settlementOf({ chainId }: Payments, { tx, amount }: Paid): SettlementReference | null {
  if (tx === null) return null;
  const rail = { rail: 'x402', chain_id: chainId, asset: 'USDC' };
  return { ...rail, status: 'confirmed', tx, amount: formatUsdc(toNano(amount)) };
}

interface Prepaid {
  readonly account: string;
  readonly price: NanoUsdc;
  readonly profile: Profile;
  readonly subject: string;
}

function prepaid({ store, clock }: Means, { account, price, profile, subject }: Prepaid): ReceiptPayment {
  const put: Store['putReceipt'] = async (receipt, idempotency) => {
    const id = `receipt:${randomUUID()}`;
    const at = Math.floor(clock() / 1000);
    const held = await store.ledger.reserve({ id, account, amount: price, expiresAt: at + RESERVED_SECONDS });
    if (held.kind === 'insufficient') throw spent(price, held.available);
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
  return { paid: null, account, put, settlement: null };
}

function putOutcome(outcome: Awaited<ReturnType<Store['ledger']['settle']>>): PutOutcome {
  if (outcome === 'settled' || outcome === 'settled_before') return { kind: 'stored' };
  if (outcome === 'unreserved')
    throw new TallyError('unavailable', 'The receipt could not be billed. Try again.');
  return outcome === 'id_taken' ? { kind: 'id_taken' } : outcome;
}

function spent(price: NanoUsdc, available: NanoUsdc): TallyError {
  return new TallyError(
    'insufficient_balance',
    `The receipt costs ${formatUsdc(price)} USDC and ${formatUsdc(available)} USDC are available.`,
  );
}
