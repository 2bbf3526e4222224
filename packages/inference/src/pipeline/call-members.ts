import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { type NanoUsdc, parseUsdc } from '@tallystick/ledger';
import { compressionMembers } from '../compression/options.ts';
import { AUTO } from '../router/auto.ts';
import type { ProviderPreferences } from '../router/router.ts';
import { SORTS } from '../router/sort.ts';

const MAX_TAGS = 16;
const NAMES = z.array(z.string().min(1).max(200)).max(100);

/** The member of `svc` that requests an anchor for the receipt, which needs an API key. */
export const anchorMember = z
  .boolean()
  .optional()
  .describe('Whether the receipt is to be anchored, which needs an API key.');

/** The member of `svc` that has the answer say everything about the call. */
export const explainMember = z
  .boolean()
  .optional()
  .describe(
    'Whether `svc` of the answer gives `routing`, `compression` and `billing` whole: every candidate with its score, each method and cut, tokens and prices. When absent it says what was done, charged and saved and why, and the whole is at `GET /v1/compute/calls/{id}`.',
  );

/** The member of `svc` that names a call in its caller's list of calls. */
export const tagsMember = z
  .record(
    z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'Not 1 to 64 letters, digits, `_`, `.` and `-`'),
    z.string().min(1).max(256),
  )
  .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `More than ${MAX_TAGS} tags`)
  .optional()
  .openapi({
    description:
      'Up to 16 names with a text each, by which the call is found again: `GET /v1/compute/calls?tag=name:value`. Names have up to 64 letters, digits, `_`, `.` and `-`, texts up to 256 characters.',
    example: { team: 'search', step: '2' },
  });

/** The member of `svc` that has prompt and answer kept. */
export const keepMember = z
  .boolean()
  .optional()
  .describe(
    'Whether the service keeps prompt and answer, encrypted, for as long as its operator says: `GET /v1/compute/calls/{id}/content` reads them. When absent, the `keep` of the API key says it. Ignored where the operator keeps none.',
  );

const usdc = z.union([z.string(), z.number().nonnegative()]);

/** Which providers or models may serve a call, and how one is chosen among them. */
const providerPreferences = z.strictObject({
  order: NAMES.optional().describe('Those to be tried first, in this order.'),
  only: NAMES.optional().describe('Those that may serve the call, and no others.'),
  ignore: NAMES.optional().describe('Those that may not serve the call.'),
  max_price: z
    .strictObject({
      prompt: usdc.optional().describe('The most for 1,000,000 tokens of the prompt, in USDC.'),
      completion: usdc.optional().describe('The most for 1,000,000 tokens of the answer, in USDC.'),
      request: usdc.optional().describe('The most that the call is expected to cost, in USDC.'),
    })
    .optional()
    .describe('The dearest model that may serve the call.'),
  sort: z
    .enum(SORTS)
    .optional()
    .describe(
      'What the router prefers: `balanced` weighs quality against cost by `cost_quality` (the default); `price` is the cheapest, `quality` the best, `latency` the soonest to begin and `throughput` the fastest to write, as measured lately.',
    ),
  daily_budget: usdc
    .optional()
    .describe(
      'What the payer wants to spend in a UTC day, in USDC. Once four fifths of it are spent, the dearest models are left out one after the other; no call is refused.',
    ),
});

/** The members that every protocol's request has beside the protocol's own. */
export const callMembers = {
  model: z.string().min(1).max(200).optional().openapi({
    description: 'A model id of /v1/compute/models; `auto`, or no model, lets the router choose.',
    default: AUTO,
  }),
  provider: providerPreferences.optional().openapi({
    description: 'Which providers or models may serve the call. Not forwarded to the provider.',
  }),
  cost_quality: z
    .number()
    .min(0)
    .max(10)
    .optional()
    .openapi({ description: '0 for the cheapest answer, 10 for the best. Not forwarded to the provider.' }),
  svc: z
    .strictObject({
      session: z.string().min(1).max(128).optional().describe('Calls of one session stay with one model.'),
      anchor: anchorMember,
      explain: explainMember,
      tags: tagsMember,
      keep: keepMember,
      ...compressionMembers,
    })
    .optional()
    .openapi({
      description:
        'Calls of one `session` stay with one model; `anchor` anchors the receipt; `explain` has the whole explanation in the answer; `tags` name the call in the list of calls; `keep` has prompt and answer kept; `compression`, `budget`, `retrieve` and `code` say how the prompt may be compressed. Not forwarded to the provider.',
    }),
};

const callSchema = z.looseObject(callMembers);
export type CallMembers = z.infer<typeof callSchema>;

export function readPreferences(provider: CallMembers['provider']): ProviderPreferences {
  if (provider === undefined) return {};
  const { order, only, ignore, max_price: prices, sort, daily_budget: day } = provider;
  const prompt = readCap(prices?.prompt, 'provider.max_price.prompt');
  const completion = readCap(prices?.completion, 'provider.max_price.completion');
  const request = readCap(prices?.request, 'provider.max_price.request');
  const dailyBudget = readCap(day, 'provider.daily_budget');
  return {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
    ...(prices !== undefined && {
      maxPrice: {
        ...(prompt !== null && { prompt }),
        ...(completion !== null && { completion }),
        ...(request !== null && { request }),
      },
    }),
    ...(sort !== undefined && { sort }),
    ...(dailyBudget !== null && { dailyBudget }),
  };
}

/** A JSON number counts as its decimal text. */
function readCap(value: string | number | undefined, field: string): NanoUsdc | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && value > 1e9)
    throw new TallyError('invalid_field', 'That is more than any call costs.', { field });
  return parseUsdc(String(value), field);
}
