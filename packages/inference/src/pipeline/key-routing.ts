import { z } from '@hono/zod-openapi';
import type { Spender } from '@tallystick/callers';
import type { JsonValue } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import { type KeyExperiments, keyExperimentsSchema } from '../experiments/schema.ts';
import { callMembers, readPreferences } from './call-members.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';

const { provider, cost_quality } = callMembers;

/** What of a call's members may be set for all calls of an API key. */
const keyRoutingSchema = z.strictObject({
  provider,
  cost_quality,
  experiments: keyExperimentsSchema.optional(),
});

/** The members of a call that say how it is routed. */
export type Routed = Pick<ChatRequest, 'preferences' | 'costQuality'>;

/** Who pays for a call that is to be routed. */
export interface RoutedPayer {
  /** What the usage of a day is counted under. */
  readonly subject: string;
  /** Null if no API key pays. */
  readonly key: { readonly routing: string | null } | null;
  /** Whose limits say which models may be used. */
  readonly spenders: readonly Pick<Spender, 'limits'>[];
}

/**
 * Checks how the calls of an API key are to be routed.
 * @throws unknown_field, invalid_field
 */
export function checkKeyRouting(json: JsonValue): void {
  readPreferences(validate(keyRoutingSchema, json).provider);
}

/** How a call is routed: as it says itself, and as its API key says where it says nothing. */
export function routedBy<Request extends Routed>(
  request: Request,
  { key }: Pick<RoutedPayer, 'key'>,
): Request {
  if (key === null || key.routing === null) return request;
  const set = validate(keyRoutingSchema, JSON.parse(key.routing));
  return {
    ...request,
    preferences: { ...readPreferences(set.provider), ...request.preferences },
    costQuality: request.costQuality ?? set.cost_quality ?? null,
  };
}

/** How the calls of the API key that pays take part in what is tried out. */
export function experimentsOf({ key }: Pick<RoutedPayer, 'key'>): KeyExperiments {
  if (key === null || key.routing === null) return {};
  return validate(keyRoutingSchema, JSON.parse(key.routing)).experiments ?? {};
}

/** Nano-USDC that the payer's calls of this UTC day cost so far; undefined where no budget asks for it. */
export async function spentToday(
  { ledger, clock }: Pick<PipelineContext, 'ledger' | 'clock'>,
  { preferences }: Pick<Routed, 'preferences'>,
  { subject }: Pick<RoutedPayer, 'subject'>,
): Promise<bigint | undefined> {
  if (preferences.dailyBudget === undefined) return undefined;
  const today = new Date(clock()).toISOString().slice(0, 10);
  const rows = await ledger.usage(subject, { from: today, to: today });
  return rows.reduce((sum, { charged }) => sum + charged, 0n);
}
