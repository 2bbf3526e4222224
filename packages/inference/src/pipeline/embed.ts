import { z } from '@hono/zod-openapi';
import { canonicalize, type JsonObject, TallyError } from '@tallystick/core';
import { tierOf } from '@tallystick/ledger';
import type { Model } from '../catalogue/catalogue.ts';
import { type Provider, ProviderError } from '../providers/provider.ts';
import { allResting } from '../resilience/unavailable-models.ts';
import { AUTO } from '../router/auto.ts';
import { ceilingOf, payerOf, reserveCall } from './admit.ts';
import { tryEach } from './attempt.ts';
import { anchorMember } from './call-members.ts';
import { hashRequest } from './call-receipt.ts';
import { type Call, type Completed, orRelease, settleAnswer } from './complete.ts';
import type { PipelineContext } from './context.ts';
import { type Prompt, tokenBound } from './token-bound.ts';
import { countPrompt } from './token-count.ts';
import { usageOf } from './usage-of.ts';

const MAX_INPUTS = 2_048;
const MAX_TOKENS = 300_000;
const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1).max(MAX_TOKENS);

export const embeddingRequestSchema = z
  .looseObject({
    model: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .openapi({ description: 'Of /v1/compute/models.', default: AUTO }),
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
      .describe('How many numbers each vector has, where the model can shorten it.'),
    svc: z
      .strictObject({ anchor: anchorMember })
      .optional()
      .openapi({ description: '`anchor` anchors the receipt. Not forwarded to the provider.' }),
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
  readonly anchor: boolean;
}

export function readEmbeddingRequest(parsed: Parsed): EmbeddingRequest {
  const { input, model = AUTO } = parsed;
  return {
    raw: parsed as JsonObject,
    model,
    ...inputOf(input),
    anchor: parsed.svc?.anchor ?? false,
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
 * Answers an embeddings call.
 * @throws model_not_found, model_gone, no_model_available, insufficient_balance, and providers' failures
 */
export async function embed(context: PipelineContext, call: Call<EmbeddingRequest>): Promise<Completed> {
  const { request, incoming, caller, signal, open } = call;
  const payer = payerOf(caller);
  const { did } = payer.agent;
  const member = did === null ? null : context.ledger.member(did);
  const model = embeddingModel(context, request.model);
  const named = request.model !== AUTO;
  if (context.health.rest(model) !== null) throw allResting([model], context.health, named);
  const { prompt } = request;
  const candidateFor = (tokens: number) => [{ model, ceiling: ceilingOf(model, tokens, 0) }];
  // Models add a few tokens of their own to each input.
  const bound = tokenBound(prompt) + 8 * request.inputs;
  const admitted = await reserveCall(context, payer, {
    open,
    candidates: candidateFor(bound),
    exactly: async () => candidateFor(Math.ceil((await countPrompt(prompt, model.tokenizer)) * 1.1)),
  });
  const { answer, failed } = await orRelease(context, admitted, call, () =>
    tryEach({ ...context, signal: signal.signal, incoming, named }, [model], async (provider: Provider) => {
      if (provider.embed === undefined) throw new ProviderError('refused', `${provider.name} does not embed`);
      const { svc: _svc, ...body } = request.raw;
      return provider.embed({ model: model.upstreamModel, body, signal: signal.signal });
    }),
  );
  context.health.success(model);
  const { svc: _svc, ...body } = answer.body;
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
    text: canonicalize(body),
    routing: null,
    compression: null,
  });
}

/** The requested model; for `auto` the first of the catalogue, a built-in one only if there is no other. */
function embeddingModel({ catalogue }: Pick<PipelineContext, 'catalogue'>, name: string): Model {
  const models = catalogue.models.filter(({ kind }) => kind === 'embedding');
  const model = name === AUTO ? (models.find(({ builtIn }) => !builtIn) ?? models[0]) : catalogue.find(name);
  if (model?.kind === 'embedding') return model;
  throw new TallyError(
    'model_not_found',
    `There is no embedding model “${name.slice(0, 80)}”. Known: ${models.map(({ id }) => id).join(', ') || 'none'}.`,
    { field: 'model' },
  );
}
