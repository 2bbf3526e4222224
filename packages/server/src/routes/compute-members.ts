import { z } from '@hono/zod-openapi';
import { FREE_READ_ERRORS, READ_PRICE } from '../compute/free-reads.ts';
import { leaderboard, registerMember, verifyMember } from '../compute/members/members.ts';
import { SPREAD_PERCENT } from '../compute/members/tiers.ts';
import { json } from '../http/answer.ts';
import { isProbe } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { consumeDaily } from '../http/rate-limit.ts';
import type { Services } from '../services.ts';
import { COMPUTE, READ_HEADERS } from './compute-shapes.ts';
import { did } from './shapes.ts';

/** Members and their tiers (specification 2.11 and 3.2). */
export function memberRoutes(services: Services): Endpoint[] {
  return [register(services), leaders(services), verify(services)];
}

const tiers = Object.keys(SPREAD_PERCENT) as (keyof typeof SPREAD_PERCENT)[];

const memberSchema = z
  .object({
    did: z.string(),
    handle: z.string().nullable(),
    registered: z.literal(true),
    registered_at: z.string(),
    tier: z.enum(tiers),
    spread_pct: z.int().openapi({ description: 'The member’s share of what compression saves, in percent.' }),
    jobs: z.int().openapi({ description: 'Completed, paid calls since registration.' }),
    jobs_to_next_tier: z.int().nullable(),
  })
  .openapi('Member');

function register({ config, store, clients, clock }: Services): Endpoint {
  const quota = { name: 'member-register', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/compute/member/register',
    group: COMPUTE,
    summary: 'Register a DID',
    description:
      'Free, and needs no proof of the DID. Repeating it changes nothing. An address may register as many DIDs a day as it may mint free receipts.',
    availability: 'live',
    body: z.strictObject({
      did,
      handle: z
        .string()
        .optional()
        .openapi({ description: '3 to 32 lower-case letters and digits, with single hyphens between.' }),
    }),
    example: { did: 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp', handle: 'quipu' },
    answers: { 200: { description: 'The member', schema: memberSchema } },
    errors: ['invalid_did', 'handle_taken', 'rate_limited'],
    async handle(call) {
      const { c, body } = call;
      if (!isProbe(c)) await consumeDaily(quota, clients.group(c), call, clock());
      return json(await registerMember(store, { did: body.did, handle: body.handle ?? null, now: clock() }));
    },
  });
}

function leaders({ store, freeReads }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/member/leaderboard',
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
        schema: z.object({ members: z.array(memberSchema.extend({ rank: z.int() })) }),
      },
    },
    errors: FREE_READ_ERRORS,
    async handle(call) {
      await freeReads.admit(call);
      return json({ members: await leaderboard(store, Number(call.query.limit ?? 10)) });
    },
  });
}

function verify({ store, freeReads }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/member/verify/{did}',
    group: COMPUTE,
    summary: 'Look up a member',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    params: z.object({ did }),
    answers: {
      200: {
        description: 'The member, or that the DID is not registered',
        schema: z.union([
          memberSchema,
          z.object({
            did: z.string(),
            registered: z.literal(false),
            tier: z.literal('unregistered'),
            spread_pct: z.int(),
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
