import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { type NanoUsdc, parseUsdc } from '@tallystick/ledger';
import { compressionMembers } from '../compression/options.ts';
import { AUTO } from '../router/auto.ts';
import type { ProviderPreferences } from '../router/router.ts';

const NAMES = z.array(z.string().min(1).max(200)).max(100);

/** The member of `svc` that requests an anchor for the receipt, which needs an API key. */
export const anchorMember = z
  .boolean()
  .optional()
  .describe('Whether the receipt is to be anchored, which needs an API key.');

/** USDC for 1,000,000 tokens. */
const cap = z.union([z.string(), z.number().nonnegative()]);

/** The members that every protocol's request has beside the protocol's own. */
export const callMembers = {
  model: z.string().min(1).max(200).optional().openapi({
    description: 'A model id of /v1/compute/models; `auto`, or no model, lets the router choose.',
    default: AUTO,
  }),
  provider: z
    .strictObject({
      order: NAMES.optional().describe('Those to be tried first, in this order.'),
      only: NAMES.optional().describe('Those that may serve the call, and no others.'),
      ignore: NAMES.optional().describe('Those that may not serve the call.'),
      max_price: z
        .strictObject({
          prompt: cap.optional().describe('The most for 1,000,000 tokens of the prompt, in USDC.'),
          completion: cap.optional().describe('The most for 1,000,000 tokens of the answer, in USDC.'),
        })
        .optional()
        .describe('The dearest model that may serve the call.'),
    })
    .optional()
    .openapi({
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
      ...compressionMembers,
    })
    .optional()
    .openapi({
      description:
        'Calls of one `session` stay with one model; `anchor` anchors the receipt; `compression`, `budget` and `retrieve` say how the prompt may be compressed. Not forwarded to the provider.',
    }),
};

const callSchema = z.looseObject(callMembers);
export type CallMembers = z.infer<typeof callSchema>;

export function readPreferences(provider: CallMembers['provider']): ProviderPreferences {
  if (provider === undefined) return {};
  const { order, only, ignore, max_price: prices } = provider;
  const prompt = readCap(prices?.prompt, 'provider.max_price.prompt');
  const completion = readCap(prices?.completion, 'provider.max_price.completion');
  return {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(ignore !== undefined && { ignore }),
    maxPrice: { ...(prompt !== null && { prompt }), ...(completion !== null && { completion }) },
  };
}

/** A JSON number counts as its decimal text. */
function readCap(value: string | number | undefined, field: string): NanoUsdc | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && value > 1e9)
    throw new TallyError('invalid_field', 'The model has no such price.', { field });
  return parseUsdc(String(value), field);
}
