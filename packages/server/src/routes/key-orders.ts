import { z } from '@hono/zod-openapi';
import { formatTimestamp, parseJson, TallyError, utf8 } from '@tallystick/core';
import {
  type Destination,
  type DestinationFault,
  destinationOf,
  type Months,
  type OrderRow,
  openQuote,
  type QuoteRequest,
  SOLD_TIERS,
  type SoldTier,
} from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { countQuote, paymentInstructions, paymentSchema, requireMoney } from './quotes.ts';
import { count, storable, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'clients' | 'money' | 'keySales'>;

const GROUP = 'Anchor';

/** Anchor keys bought with a transfer of USDC (specification 5.4). */
export function keyOrderRoutes(services: Needs): Endpoint[] {
  return [quote(services), order(services)];
}

const contact = z.string().max(320).openapi({
  description:
    'Where the key goes: an e-mail address; a domain, which gets it at https://<domain>/.well-known/tally-key; or a DID.',
  example: 'ops@example.com',
});

const deliveredTo = z
  .object({
    kind: z.enum(['email', 'domain', 'did']).openapi({ description: 'The kind of place.' }),
    to: z.string().openapi({ description: 'The address, the domain or the DID.' }),
  })
  .nullable()
  .openapi({
    description:
      'Where the key will go, null for a renewal. It is issuer_did where the contact is an e-mail address and this service sends no e-mail.',
  });

function deliveryOf(destination: Destination | DestinationFault): z.infer<typeof deliveredTo> {
  if (typeof destination === 'string') return null;
  const { kind } = destination;
  if (kind === 'email') return { kind, to: destination.address };
  return { kind, to: kind === 'domain' ? destination.domain : destination.did };
}

/** Why a key cannot be sent to a destination, for the caller. */
const FAULTS: Record<DestinationFault, string> = {
  no_contact: 'Say where the key is to be sent: give contact or issuer_did.',
  bad_contact: 'A contact must be an e-mail address, a domain, a did:key, or a did:svc of this service.',
  no_mail_server: 'This service sends no e-mail. Give a domain or a DID as contact, or issuer_did beside it.',
};

interface KeyOrderRequest {
  readonly tier: SoldTier;
  readonly months: Months;
  readonly contact?: string | undefined;
  readonly issuer_did?: string | undefined;
  readonly renew?: string | undefined;
}

function quote(services: Needs): Endpoint {
  const { store, clock, config, keySales } = services;
  const deliverable = { development: config.mode === 'development', mail: config.sales.mail !== null };
  return endpoint({
    method: 'post',
    path: '/v1/anchor/keys/quote',
    operationId: 'quoteKey',
    group: GROUP,
    summary: 'Get a quote for a key',
    description:
      'Returns an exact amount, up to 0.05 USDC above the price, by which the transfer is recognised: for wallets that can’t append a memo, and contacts that should stay private. With `renew`, the key with that id is extended instead of a new one being sold. The key is delivered once the transfer is confirmed.',
    availability: 'live',
    body: z.strictObject({
      tier: z.enum(SOLD_TIERS).openapi({ description: 'The tier of the key.' }),
      months: z
        .union([z.literal(1), z.literal(12)])
        .optional()
        .openapi({ description: '1 when absent; 12 months cost as much as ten.' }),
      contact: contact.optional(),
      issuer_did: z.string().max(2048).optional().openapi({
        description:
          'A did:key, or a did:svc of this service. The key is sealed to it when there is no contact.',
      }),
      renew: z
        .string()
        .max(64)
        .refine(...storable)
        .optional()
        .openapi({
          description: 'The id of a key that is to be good for longer.',
          example: 'key_4fmx07q2zk81ab9c',
        }),
    }),
    example: { tier: 'pro', months: 12, contact: 'example.com' },
    answers: {
      200: {
        description: 'The amount to pay, and the order',
        schema: paymentSchema.extend({
          tier: z.enum(SOLD_TIERS).openapi({ description: 'The tier of the key.' }),
          months: z.int().openapi({ description: 'For how many months it is good.' }),
          delivered_to: deliveredTo,
        }),
      },
    },
    errors: ['invalid_field', 'conflicting_fields', 'rate_limited', 'payments_off', 'unavailable'],
    async handle(call) {
      const money = requireMoney(services);
      const { tier, months = 1 } = call.body;
      const request = await quoteRequestOf({ ...call.body, tier, months });
      await countQuote(services, call);
      const opened = await openQuote(store, keySales.priceOf(tier, months), request, clock());
      const document = {
        order_id: opened.id,
        ...paymentInstructions(opened, money),
        tier,
        months,
        delivered_to: opened.kind === 'key' ? deliveryOf(destinationOf(opened, deliverable)) : null,
      };
      return json(document, { headers: { 'cache-control': 'no-store' } });
    },
  });

  async function quoteRequestOf(body: KeyOrderRequest): Promise<QuoteRequest> {
    const { tier, months, renew } = body;
    if (renew !== undefined) return { kind: 'renewal', tier, months, apiKey: await renewable(renew, body) };
    const to = { contact: body.contact ?? null, did: body.issuer_did ?? null };
    const destination = destinationOf(to, deliverable);
    if (typeof destination !== 'string') return { kind: 'key', tier, months, ...to };
    throw new TallyError('invalid_field', FAULTS[destination], {
      field: to.contact === null ? 'issuer_did' : 'contact',
    });
  }

  async function renewable(id: string, { tier, contact: to, issuer_did }: KeyOrderRequest): Promise<string> {
    if ((to ?? issuer_did) !== undefined) {
      throw new TallyError(
        'conflicting_fields',
        'A renewed key is not delivered again: leave the contact out.',
        {
          field: 'renew',
        },
      );
    }
    const key = await store.apiKeys.get(id);
    const isSold = key !== null && key.owner === null && key.expiresAt !== null;
    if (isSold && key.revokedAt === null && key.tier === tier) return id;
    throw new TallyError('invalid_field', `There is no ${tier} key with that id that could be renewed.`, {
      field: 'renew',
    });
  }
}

const STATES = ['open', 'expired', 'delivering', 'undeliverable', 'done'] as const;

function order({ store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchor/keys/orders/{order_id}',
    operationId: 'getKeyOrder',
    group: GROUP,
    summary: 'Read an order',
    description:
      'Anyone who has the id may ask. The key itself is not returned, except in `sealed`, encrypted to a DID: `tally apikey open` opens it with the DID’s key.',
    availability: 'live',
    params: z.object({ order_id: z.string().openapi({ description: 'The id that the order was given.' }) }),
    answers: {
      200: {
        description: 'The order',
        schema: z
          .object({
            order_id: z.string().openapi({ description: 'The id of the order.' }),
            kind: z.enum(['key', 'renewal', 'top_up']).openapi({ description: 'What was ordered.' }),
            state: z.enum(STATES).openapi({ description: 'What became of it; `open` until it is paid.' }),
            tier: z.string().nullable().openapi({ description: 'The tier of the key; null for a top-up.' }),
            months: z.int().openapi({ description: 'For how many months the key is good.' }),
            payment: z.string().nullable().openapi({ description: 'The transfer that paid it.' }),
            key_id: z.string().nullable().openapi({ description: 'The id of the key, which is no secret.' }),
            paid_until: timestamp.nullable().openapi({ description: 'Until when the key is good.' }),
            delivered_at: timestamp.nullable().openapi({ description: 'When the key was delivered.' }),
            attempts: count.openapi({ description: 'How often its delivery was tried.' }),
            sealed: z
              .looseObject({})
              .nullable()
              .openapi({ description: 'The key, sealed to the DID that it is for; null for any other.' }),
          })
          .openapi('KeyOrder', { description: 'An order of a key or a top-up.' }),
      },
    },
    errors: ['order_not_found'],
    async handle({ params }) {
      const [isStorable] = storable;
      const found = isStorable(params.order_id) ? await store.treasury.order(params.order_id) : null;
      if (found === null) throw new TallyError('order_not_found', 'There is no order with that id.');
      return json(orderDocument(found), { headers: { 'cache-control': 'no-store' } });
    },
  });
}

function orderDocument(row: OrderRow) {
  const { id, kind, state, tier, months, payment, apiKey, attempts, sealed } = row;
  return {
    order_id: id,
    kind,
    state,
    tier,
    months,
    payment,
    key_id: apiKey,
    paid_until: timestampOf(row.paidUntil),
    delivered_at: timestampOf(row.deliveredAt),
    attempts,
    sealed: sealed === null ? null : parseJson(utf8(sealed)),
  };
}

function timestampOf(seconds: number | null): string | null {
  return seconds === null ? null : formatTimestamp(seconds * 1000);
}
