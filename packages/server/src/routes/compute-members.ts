import { z } from '@hono/zod-openapi';
import { consumeDaily } from '@tallystick/callers';
import { FREE_READ_ERRORS, READ_PRICE } from '@tallystick/inference';
import { leaderboard, registerMember, SPREAD_PERCENT, verifyMember } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { READ_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { COMPUTE, READ_HEADERS } from './compute-shapes.ts';
import { count, did, didText, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'clients' | 'freeReads'>;

/** Members and their tiers (specification 2.11 and 3.2). */
export function memberRoutes(services: Needs): Endpoint[] {
  return [register(services), leaders(services), verify(services)];
}

const tiers = Object.keys(SPREAD_PERCENT) as (keyof typeof SPREAD_PERCENT)[];

const memberSchema = z
  .object({
    did: didText.openapi({ description: 'The DID.' }),
    handle: z.string().nullable().openapi({ description: 'The name that it chose.', example: 'quipu' }),
    registered: z.literal(true).openapi({ description: 'Always true of a member.' }),
    registered_at: timestamp.openapi({ description: 'When it was registered.' }),
    tier: z.enum(tiers).openapi({ description: 'By its jobs.' }),
    spread_pct: z.int().openapi({ description: 'The member’s share of what compression saves, in percent.' }),
    jobs: count.openapi({ description: 'Completed, paid calls since registration.' }),
    jobs_to_next_tier: count.nullable().openapi({ description: 'Null in the highest tier.' }),
  })
  .openapi('Member', { description: 'A DID that is registered.' });

function register({ config, store, clients, clock }: Needs): Endpoint {
  const quota = { name: 'member-register', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/compute/member/register',
    operationId: 'registerMember',
    group: COMPUTE,
    summary: 'Register a DID',
    description:
      'Free, and needs no proof of the DID. Repeating it changes nothing. An address may register as many DIDs a day as it may mint free receipts.',
    availability: 'live',
    body: z.strictObject({
      did: did.openapi({ description: 'The DID to register.' }),
      handle: z.string().optional().openapi({
        pattern: '^(?=.{3,32}$)[a-z0-9]+(?:-[a-z0-9]+)*$',
        description: '3 to 32 lower-case letters and digits, with single hyphens between.',
      }),
    }),
    example: { did: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp', handle: 'quipu' },
    answers: { 200: { description: 'The member', schema: memberSchema } },
    errors: ['invalid_did', 'handle_taken', 'rate_limited'],
    async handle(call) {
      const { incoming, body } = call;
      if (!incoming.isProbe) await consumeDaily(quota, clients.group(incoming), call, clock());
      return json(await registerMember(store, { did: body.did, handle: body.handle ?? null, now: clock() }));
    },
  });
}

function leaders({ store, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/member/leaderboard',
    operationId: 'getLeaderboard',
    credentials: READ_CREDENTIALS,
    group: COMPUTE,
    summary: 'Read the leaderboard',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    query: z.strictObject({
      limit: z
        .string()
        .regex(/^(?:[1-9]\d?|100)$/, 'Not 1 to 100')
        .optional()
        .openapi({ description: '10 when absent.' }),
    }),
    answers: {
      200: {
        description: 'The members, most completed jobs first',
        schema: z.object({
          members: z
            .array(
              memberSchema.extend({
                rank: z.int().openapi({ minimum: 1, description: 'Its place, from 1.' }),
              }),
            )
            .openapi({ description: 'The members.' }),
        }),
      },
    },
    errors: FREE_READ_ERRORS,
    async handle(call) {
      await freeReads.admit(call);
      return json({ members: await leaderboard(store, Number(call.query.limit ?? 10)) });
    },
  });
}

function verify({ store, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/member/verify/{did}',
    operationId: 'verifyMember',
    credentials: READ_CREDENTIALS,
    group: COMPUTE,
    summary: 'Look up a member',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    params: z.object({ did: did.openapi({ description: 'The DID to look up.' }) }),
    answers: {
      200: {
        description: 'The member, or that the DID is not registered',
        schema: z.union([
          memberSchema,
          z.object({
            did: didText.openapi({ description: 'The DID.' }),
            registered: z.literal(false).openapi({ description: 'It is no member.' }),
            tier: z.literal('unregistered').openapi({ description: 'Of whoever is no member.' }),
            spread_pct: z.int().openapi({ description: 'Its share of what compression saves, in percent.' }),
          }),
        ]),
      },
    },
    errors: [...FREE_READ_ERRORS, 'invalid_did'],
    async handle(call) {
      await freeReads.admit(call);
      return json(await verifyMember(store, call.params.did));
    },
  });
}
