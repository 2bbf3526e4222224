import { z } from '@hono/zod-openapi';
import { canonicalize, type JsonObject } from '@tallystick/core';
import { tierOf } from '@tallystick/ledger';
import type { CallTags } from '../calls/ended-call.ts';
import type { Model } from '../catalogue/catalogue.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { limitedTo } from '../router/affordable.ts';
import { AUTO } from '../router/auto.ts';
import { routeEmbedding } from '../router/embedding.ts';
import type { ProviderPreferences, RouteDecision } from '../router/router.ts';
import { ceilingOf, reserveCall } from './admit.ts';
import { withinLimits } from './allowed-models.ts';
import { tryEach } from './attempt.ts';
import {
  anchorMember,
  callMembers,
  explainMember,
  keepMember,
  readPreferences,
  tagsMember,
} from './call-members.ts';
import { type CallPayer, payerOf } from './call-payer.ts';
import { hashRequest } from './call-receipt.ts';
import { type Call, type Completed, orRelease, settleAnswer } from './complete.ts';
import type { PipelineContext } from './context.ts';
import { routedBy, spentToday } from './key-routing.ts';
import type { Candidate } from './reserve.ts';
import { type Prompt, tokenBound, tokenEstimate } from './token-bound.ts';
import { countPrompt } from './token-count.ts';
import { usageOf } from './usage-of.ts';

const MAX_INPUTS = 2_048;
const MAX_TOKENS = 300_000;
const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1).max(MAX_TOKENS);

export const embeddingRequestSchema = z
  .looseObject({
    model: z.string().min(1).max(200).optional().openapi({
      description:
        'Of /v1/compute/models; `auto`, or no model, lets the router choose. Vectors of two models cannot be compared: name the one that an answer names in `svc.served` to go on with it.',
      default: AUTO,
    }),
    input: z
      .union([text, z.array(text).min(1).max(MAX_INPUTS), tokens, z.array(tokens).min(1).max(MAX_INPUTS)])
      .openapi({
        description:
          'A text or a list of texts; or the tokens of one or more texts, if the model accepts tokens.',
      }),
    encoding_format: z
      .enum(['float', 'base64'])
      .nullish()
      .describe('How vectors are written: as lists of numbers (the default), or as base64 of 32-bit floats.'),
    dimensions: z
      .int()
      .min(1)
      .max(65_536)
      .nullish()
      .describe(
        'How many numbers each vector has. `auto` chooses among the models that give as many; without it, each model gives its own.',
      ),
    provider: callMembers.provider,
    cost_quality: callMembers.cost_quality,
    svc: z
      .strictObject({ anchor: anchorMember, explain: explainMember, tags: tagsMember, keep: keepMember })
      .optional()
      .openapi({
        description:
          '`anchor` anchors the receipt; `explain` has the whole explanation in the answer; `tags` name the call in the list of calls; `keep` has request and answer kept. Not forwarded to the provider.',
      }),
  })
  .openapi('EmbeddingRequest', {
    description: 'As OpenAI takes it. Members that are not listed here pass to the provider as they are.',
  });

type Parsed = z.infer<typeof embeddingRequestSchema>;

export interface EmbeddingRequest {
  readonly raw: JsonObject;
  readonly model: string;
  readonly prompt: Prompt;
  readonly inputs: number;
  /** The length of vectors that is asked for; null where any will do. */
  readonly dimensions: number | null;
  readonly preferences: ProviderPreferences;
  readonly costQuality: number | null;
  readonly anchor: boolean;
  readonly explain: boolean;
  readonly tags: CallTags | null;
  readonly keep: boolean | null;
}

/** @throws invalid_field for an invalid price */

export function readEmbeddingRequest(parsed: Parsed): EmbeddingRequest {
  const { input, model = AUTO, dimensions = null, provider, cost_quality: costQuality = null } = parsed;
  return {
    raw: parsed as JsonObject,
    model,
    ...inputOf(input),
    dimensions,
    preferences: readPreferences(provider),
    costQuality,
    anchor: parsed.svc?.anchor ?? false,
    explain: parsed.svc?.explain ?? false,
    tags: parsed.svc?.tags ?? null,
    keep: parsed.svc?.keep ?? null,
  };
}

function inputOf(input: Parsed['input']): Pick<EmbeddingRequest, 'prompt' | 'inputs'> {
  const all = [input].flat();
  const texts = all.filter((one) => typeof one === 'string');
  const inTokens = all.filter((one) => typeof one !== 'string');
  const inputs = typeof inTokens[0] === 'number' ? 1 : all.length;
  return { prompt: { texts, extraTokens: inTokens.flat().length }, inputs };
}

/**
 * Answers an embeddings call. Compression does not apply to it, which the answer says.
 * @throws model_not_found, invalid_request, model_gone, no_model_available, insufficient_balance, and providers' failures
 */
export async function embed(context: PipelineContext, call: Call<EmbeddingRequest>): Promise<Completed> {
  const { request, incoming, caller, signal, open, trail } = call;
  const payer = payerOf(caller);
  const { did } = payer.agent;
  const member = did === null ? null : context.ledger.member(did);
  const { prompt } = request;
  // Models add a few tokens of their own to each input.
  const bound = tokenBound(prompt) + 8 * request.inputs;
  const began = performance.now();
  const decision = await routeCall(context, request, payer, tokenEstimate(bound));
  trail.decision = decision;
  trail.ends('route', began);
  const candidatesFor = (tokens: number): Candidate[] =>
    [decision.model, ...decision.fallbacks].map((model) => ({
      model,
      ceiling: ceilingOf(model, { promptTokens: tokens }, 0),
      tokens,
    }));
  const reserving = performance.now();
  const admitted = await reserveCall(context, payer, incoming, {
    open,
    candidates: candidatesFor(bound),
    exactly: async () =>
      candidatesFor(Math.ceil((await countPrompt(prompt, decision.model.tokenizer)) * 1.1)),
  });
  trail.ends('reserve', reserving);
  const routed = limitedTo(decision, admitted.models);
  trail.decision = routed;
  const { svc: _svc, provider: _provider, cost_quality: _quality, ...body } = request.raw;
  const named = request.model !== AUTO;
  const { model, answer, failed } = await orRelease(context, admitted, call, () =>
    tryEach(
      { ...context, signal: signal.signal, incoming, trail, named },
      admitted.models,
      async (provider: Provider, { upstreamModel }) => {
        if (provider.embed === undefined)
          throw new ProviderError('refused', `${provider.name} does not embed`);
        return provider.embed({ model: upstreamModel, body, signal: signal.signal });
      },
    ),
  );
  trail.begins();
  context.health.success(model);
  const { svc: _, ...shown } = answer.body;
  const usage = await usageOf(answer.usage, { model, prompt, delivered: null, limit: null });
  return settleAnswer(context, call, {
    admitted: {
      ...admitted,
      payer,
      tier: tierOf(await member),
    },
    requestHash: hashRequest(request),
    served: { model, failed },
    rounds: [usage],
    text: canonicalize(shown),
    sent: () => ({ ...body, model: model.upstreamModel }),
    routing: routed.explanation,
    compression: null,
    lesson: null,
  });
}

async function routeCall(
  context: PipelineContext,
  asked: EmbeddingRequest,
  payer: CallPayer,
  promptTokens: number,
): Promise<RouteDecision> {
  const { catalogue, health, providers } = context;
  const request = withinLimits(routedBy(asked, payer), payer.spenders, catalogue);
  const { model, dimensions, preferences, costQuality } = request;
  const spent = await spentToday(context, { preferences }, payer);
  const limited = ({ provider, upstreamModel }: Model): boolean =>
    (providers.get(provider)?.limitedMs?.(upstreamModel) ?? 0) > 0;
  return routeEmbedding(
    catalogue,
    { rest: (one) => health.rest(one), limited, upkeep: context.upkeep },
    {
      model,
      dimensions,
      preferences,
      promptTokens,
      ...(costQuality !== null && { costQuality }),
      ...(spent !== undefined && { spentToday: spent }),
    },
  );
}
