import { z } from '@hono/zod-openapi';
import { AGENT_HEADERS, accountToCredit, CALLER_ERRORS } from '@tallystick/callers';
import { formatTimestamp, type JsonValue, TallyError } from '@tallystick/core';
import { money } from '@tallystick/inference';
import { type ReceivedBody, requestHash } from '@tallystick/kit';
import { DEVELOPMENT, formatUsdc, parseUsdc, REVENUE } from '@tallystick/ledger';
import {
  NANO_PER_BASE_UNIT,
  type PaymentResult,
  type Payments,
  requireKeySecret,
  SOLD_TIERS,
  toBaseUnits,
  toNanoUsdc,
} from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { moneySchema } from './compute-svc-shapes.ts';
import { paymentsOff } from './quotes.ts';
import { apiKeyIdText, evmAddress, storable, timestamp, txHash, usdc } from './shapes.ts';

type Needs = Pick<Services, 'store' | 'issuer' | 'callers' | 'payments' | 'keySales'>;

/** What a client without an account can buy with one payment: an anchor key, or a balance. */
export function paidRoutes(services: Needs): Endpoint[] {
  return [key(services), topUp(services)];
}

const KEYS = '/v1/anchor/keys';
const TOP_UP = '/v1/balance/topup';
const BY_EXACT = ['exact'] as const;
/** 10,000 USDC. A larger amount is assumed to be a mistake. */
const MOST: bigint = 10_000_000_000n;

const settled = z
  .object({
    network: z.string().openapi({ description: 'CAIP-2.', example: 'eip155:8453' }),
    asset: usdc,
    amount: moneySchema.openapi({ description: 'What was paid.' }),
    payer: evmAddress.openapi({ description: 'Who paid.' }),
    tx: txHash.nullable().openapi({ description: 'The transaction, where it is known already.' }),
  })
  .openapi('Settlement', { description: 'How an x402 payment was settled.' });

function settlement({ network }: Payments, { amount, payer, tx }: PaymentResult) {
  return { network, asset: 'USDC', amount: money(toNanoUsdc(amount)), payer, tx };
}

function required(payments: Payments | null): Payments {
  if (payments !== null) return payments;
  throw paymentsOff();
}

function key(services: Needs): Endpoint {
  const { keySales } = services;
  return endpoint({
    method: 'post',
    path: KEYS,
    operationId: 'buyKey',
    credentials: ['payment'],
    group: 'Anchor',
    summary: 'Buy a key by x402',
    description:
      'Pays for an anchor key by x402 (specification 5.4). The answer contains the key. For 72 hours, a repetition with the same `Idempotency-Key` or payment identifier returns it again. Without either it is shown once: anybody can read a settled payment on the chain, and send it.',
    availability: 'live',
    price: {
      usd: Object.fromEntries(SOLD_TIERS.map((tier) => [tier, formatUsdc(keySales.priceOf(tier, 1))])),
      unit: 'month; a year costs ten',
      schemes: BY_EXACT,
    },
    body: z.strictObject({
      tier: z.enum(SOLD_TIERS).openapi({ description: 'The tier of the key.' }),
      months: z
        .union([z.literal(1), z.literal(12)])
        .optional()
        .openapi({ description: '1 when absent; 12 months cost as much as ten.' }),
      contact: z
        .string()
        .max(320)
        .refine(...storable)
        .optional()
        .openapi({ description: 'A note that is stored with the order.' }),
      issuer_did: z
        .string()
        .max(2048)
        .refine(...storable)
        .optional()
        .openapi({ description: 'A note that is stored with the order.' }),
    }),
    example: { tier: 'pro', months: 1 },
    answers: {
      200: {
        description: 'The key',
        schema: z.object({
          order_id: z.string().openapi({ description: 'The id of the order.' }),
          key_id: apiKeyIdText,
          key: z.string().nullable().openapi({
            description:
              'Null if the key was issued more than 72 hours ago, and in a repetition without the identifier of the payment.',
          }),
          tier: z.enum(SOLD_TIERS).openapi({ description: 'The tier of the key.' }),
          paid_until: timestamp.openapi({ description: 'Until when the key is good.' }),
          settlement: settled,
        }),
      },
    },
    errors: ['idempotency_key_invalid', 'payments_off', 'unavailable'],
    async handle(call) {
      const payments = required(services.payments);
      // Checked before anything is paid.
      requireKeySecret(services.issuer);
      const { tier, months = 1, contact = null, issuer_did: did = null } = call.body;
      const body = call.body as JsonValue;
      const paid = await payments.charge(call, {
        path: KEYS,
        description: `An anchor key, ${tier}, ${months === 12 ? 'a year' : 'a month'}`,
        schemes: BY_EXACT,
        requestHash: requestHash(call.incoming, { route: KEYS, body }),
        otherwise: '',
        amount: toBaseUnits(keySales.priceOf(tier, months)),
        credit: REVENUE,
      });
      const issued = await keySales.issuePaidKey({
        tier,
        months,
        contact,
        did,
        payment: { reference: paid.id },
      });
      await paid.delivered(null);
      return json(
        {
          order_id: issued.order,
          key_id: issued.id,
          key: paid.isConfidential ? issued.key : null,
          tier: issued.tier,
          paid_until: formatTimestamp(issued.paidUntil * 1000),
          settlement: settlement(payments, paid),
        },
        { headers: { 'cache-control': 'no-store' } },
      );
    },
  });
}

function topUp(services: Needs): Endpoint {
  const { store } = services;
  return endpoint({
    method: 'post',
    path: TOP_UP,
    operationId: 'topUpBalance',
    credentials: ['payment'],
    group: 'Balance',
    summary: 'Top up by x402',
    description:
      'Credits the account of the API key, of the DID that a message signature proves, or the one named by `account`: topping up somebody else’s account needs no proof, and shows nothing of what is in it.',
    availability: 'live',
    headers: { Authorization: '`Bearer` and the API key whose balance is meant.', ...AGENT_HEADERS },
    price: { usd: null, unit: 'top-up, of any amount', schemes: BY_EXACT },
    body: z.strictObject({
      amount: z.string().openapi({
        description: 'USDC, at most six decimals.',
        pattern: String.raw`^\d+(\.\d+)?$`,
        example: '5.00',
      }),
      account: z
        .string()
        .max(2048)
        .refine(...storable)
        .optional()
        .openapi({
          description:
            'The id of an API key (`key_…`), or a DID. For a key made with `POST /v1/keys`, the account that pays for its calls is credited.',
          example: 'key_4fmx07q2zk81ab9c',
        }),
    }),
    example: { amount: '5.00', account: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp' },
    answers: {
      200: {
        description: 'The account after the top-up',
        schema: z.object({
          account: z.string().openapi({ description: 'The ledger account that was credited.' }),
          credited: moneySchema.openapi({ description: 'What it was credited.' }),
          balance: z.union([moneySchema, z.null()]).openapi({
            description: 'What is in it now; null where `account` named it, which proves nothing.',
          }),
          settlement: settled,
        }),
      },
    },
    errors: [...CALLER_ERRORS, 'idempotency_key_invalid', 'payments_off', 'unavailable'],
    async handle(call) {
      const payments = required(services.payments);
      const amount = amountOf(call.body.amount);
      const account = await accountOf(services, call, call.body.account);
      const paid = await payments.charge(call, {
        path: TOP_UP,
        description: `A top-up of ${formatUsdc(toNanoUsdc(amount))} USDC`,
        schemes: BY_EXACT,
        // More than the body: the request's headers may decide who is credited.
        otherwise: '',
        requestHash: requestHash(call.incoming, { route: TOP_UP, body: { account, amount: String(amount) } }),
        amount,
        credit: account,
      });
      await paid.delivered(null);
      const isProved = call.body.account === undefined;
      const balance = isProved ? money((await store.ledger.balance(account)).balance) : null;
      return json(
        {
          account,
          credited: money(toNanoUsdc(paid.amount)),
          balance,
          settlement: settlement(payments, paid),
        },
        { headers: { 'cache-control': 'no-store' } },
      );
    },
  });
}

function amountOf(text: string): bigint {
  const nanoUsdc = parseUsdc(text);
  const amount = nanoUsdc / NANO_PER_BASE_UNIT;
  if (amount > 0n && amount <= MOST && nanoUsdc % NANO_PER_BASE_UNIT === 0n) return amount;
  throw new TallyError(
    'invalid_field',
    'A top-up must be more than 0 and at most 10000 USDC, with at most six decimals.',
    {
      field: 'amount',
    },
  );
}

async function accountOf(
  { callers, store }: Needs,
  call: ReceivedBody,
  named: string | undefined,
): Promise<string> {
  if (named === undefined) {
    const { account } = await callers.callerOf(call);
    if (account !== DEVELOPMENT) return account;
    throw new TallyError(
      'missing_field',
      'Say whose balance to top up: give account, an API key or a message signature.',
      {
        field: 'account',
      },
    );
  }
  const account = await accountToCredit(store.apiKeys, named);
  if (account !== null) return account;
  throw new TallyError(
    'invalid_field',
    'An account must be a DID that somebody can prove, or the id of an API key (key_…) that is not revoked and pays for calls.',
    { field: 'account' },
  );
}
