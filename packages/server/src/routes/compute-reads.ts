import { z } from '@hono/zod-openapi';
import { type JsonObject, STATUS_STATES, TallyError } from '@tallystick/core';
import { isApiKeyId } from '../api-keys/api-key.ts';
import { money, priceDocument } from '../compute/billing.ts';
import { CALLER_ERRORS } from '../compute/caller.ts';
import type { Model } from '../compute/catalogue/catalogue.ts';
import { FREE_READ_ERRORS, READ_PRICE, type Reader } from '../compute/free-reads.ts';
import { callerAccount, DEVELOPMENT } from '../compute/ledger/accounts.ts';
import { localCards } from '../compute/local/cards.ts';
import { tierOf } from '../compute/members/tiers.ts';
import { chatRequestSchema, readChatRequest } from '../compute/pipeline/chat-request.ts';
import type { PipelineContext } from '../compute/pipeline/context.ts';
import { estimateChat } from '../compute/pipeline/estimate.ts';
import type { Config } from '../config.ts';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import type { UsageRow } from '../store/ledger-store.ts';
import { COMPUTE, compressionSchema, moneySchema, READ_HEADERS } from './compute-shapes.ts';
import { did } from './shapes.ts';

/** What tells of models, prices and one's own usage (specification 4.3). */
export function computeReadRoutes(services: Services): Endpoint[] {
  return [models(services), model(services), estimate(services), usage(services)];
}

const priceSchema = z
  .object({ input: moneySchema, output: moneySchema, cache_read: moneySchema, cache_write: moneySchema })
  .openapi('Price', { description: 'For 1,000,000 tokens.' });

const modelSchema = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    svc: z.looseObject({
      kind: z.enum(['chat', 'embedding']),
      price_per_million_tokens: priceSchema,
      health: z
        .object({ state: z.enum(STATUS_STATES), code: z.string() })
        .openapi({ description: 'The state that calls of the last minutes showed, as in `/status`.' }),
    }),
  })
  .openapi('Model');

/** Since the service has no date for a model, the one that OpenAI's clients expect is the epoch. */
const CREATED = 0;

function models({ compute, freeReads }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/models',
    group: COMPUTE,
    summary: 'List the models',
    description:
      'The list has OpenAI’s form; `svc` holds prices, context size and abilities, and for built-in models a card that says what they can and can’t do.',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    answers: {
      200: {
        description: 'The models whose provider is configured',
        schema: z.object({
          object: z.literal('list'),
          data: z.array(modelSchema),
        }),
      },
    },
    errors: FREE_READ_ERRORS,
    async handle(call) {
      await freeReads.admit(call);
      const { pipeline } = compute;
      return json({
        object: 'list',
        data: pipeline.catalogue.models.map((one) => modelDocument(one, pipeline)),
      });
    },
  });
}

function model({ compute, freeReads }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/models/{id}',
    rest: true,
    group: COMPUTE,
    summary: 'Read a model',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    params: z.object({
      id: z.string().openapi({
        description: 'The model id; its slash may be percent-encoded.',
        example: 'local/extract-1',
      }),
    }),
    answers: { 200: { description: 'The model', schema: modelSchema } },
    errors: [...FREE_READ_ERRORS, 'model_not_found'],
    async handle(call) {
      await freeReads.admit(call);
      const found = compute.pipeline.catalogue.find(call.params.id);
      if (found !== null) return json(modelDocument(found, compute.pipeline));
      throw new TallyError(
        'model_not_found',
        `There is no model “${call.params.id.slice(0, 80)}”. GET /v1/compute/models lists them.`,
        { field: 'id' },
      );
    },
  });
}

function modelDocument(model: Model, { health }: Pick<PipelineContext, 'health'>) {
  const card = localCards.find(({ id }) => id === model.id);
  return {
    id: model.id,
    object: 'model',
    created: CREATED,
    owned_by: model.provider,
    svc: {
      kind: model.kind,
      context: model.context,
      max_output: model.maxOutput,
      abilities: [...model.abilities],
      price_per_million_tokens: priceDocument(model.price),
      prior: model.prior,
      hardware: model.hardware,
      region: model.region,
      health: health.light(model),
      ...(card !== undefined && { card }),
    },
  };
}

function estimate({ compute, freeReads, config, store }: Services): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/compute/estimate',
    group: COMPUTE,
    summary: 'Estimate a chat call',
    description:
      'Takes the body of a chat call and returns how many tokens compression would leave, where the call would be routed, its maximum cost and the share of the saving that would come back. No model is called.',
    availability: 'live',
    openai: true,
    headers: READ_HEADERS,
    price: READ_PRICE,
    body: chatRequestSchema,
    maxBodyBytes: config.compute.maxBodyBytes,
    example: { messages: [{ role: 'user', content: 'What is a tally stick?' }], max_completion_tokens: 200 },
    answers: {
      200: {
        description: 'The estimate',
        schema: z.looseObject({
          model: z.string(),
          tokens: z.looseObject({ prompt: z.int(), max_completion: z.int() }),
          compression: compressionSchema,
          cashback: z.looseObject({ saving: moneySchema, expected: moneySchema }),
          cost: z.object({ asset: z.literal('USDC'), min: moneySchema, max: moneySchema }),
        }),
      },
    },
    errors: [...FREE_READ_ERRORS, 'model_not_found', 'model_gone', 'context_too_long', 'no_model_available'],
    admit: freeReads.keyOf,
    async handle(call) {
      const { key, ...agent } = await freeReads.admit(call);
      const payer = key?.id ?? (agent.proved ? agent.did : null);
      const account = payer === null ? DEVELOPMENT : callerAccount(payer);
      const tier = tierOf(agent.did === null ? null : await store.ledger.member(agent.did));
      const estimator = { account, did: agent.did, tier };
      return json(
        await estimateChat(
          compute.pipeline,
          readChatRequest(call.body, compute.pipeline.catalogue),
          estimator,
        ),
      );
    },
  });
}

const apiKeyId = z.string().refine(isApiKeyId, 'Not a DID, and not the id of an API key');
const day = z.iso.date().optional().openapi({ example: '2026-03-01' });

function usage({ store, freeReads, config }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/usage/{did}',
    group: COMPUTE,
    summary: 'Read the usage of a DID or an API key',
    description:
      'Usage by UTC day and model. In production the DID must be proved by an HTTP message signature (RFC 9421). The id of an API key (`key_…`) stands for the calls that the key paid for without a DID, and only that key may read it.',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    params: z.object({ did: z.union([did, apiKeyId]) }),
    query: z.strictObject({ from: day, to: day }),
    answers: {
      200: {
        description: 'The usage, and the balance of the account',
        schema: z.looseObject({ did: z.string(), days: z.array(z.looseObject({})) }),
      },
    },
    errors: [...FREE_READ_ERRORS, ...CALLER_ERRORS],
    async handle(call) {
      const { did: whose } = call.params;
      const reader = await freeReads.admit(call);
      if (!mayRead(reader, whose, config)) throw unproved(whose);
      const { from, to } = call.query;
      const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
      const [rows, account] = await Promise.all([
        store.ledger.usage(whose, span),
        store.ledger.balance(callerAccount(whose)),
      ]);
      const { balance, reserved } = account;
      return json({
        did: whose,
        days: rows.map(usageDocument),
        total: totalOf(rows),
        account: { asset: 'USDC', balance: money(balance), reserved: money(reserved) },
      });
    },
  });
}

/** A DID by its proof, in development without one; a key by itself, always. */
function mayRead({ key, did, proved }: Reader, whose: string, { mode }: Pick<Config, 'mode'>): boolean {
  if (isApiKeyId(whose)) return key?.id === whose;
  return mode === 'development' || (proved && did === whose);
}

function usageDocument(row: UsageRow): JsonObject {
  return { day: row.day, model: row.model, ...sums(row) };
}

type Sums = Omit<UsageRow, 'day' | 'model'>;

function sums(row: Sums): JsonObject {
  const { calls, promptTokens, completionTokens, cachedTokens, charged, savedTokens, saving, share } = row;
  return {
    calls,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    cached_tokens: cachedTokens,
    charged: money(charged),
    saved_tokens: savedTokens,
    saving: money(saving),
    share: money(share),
  };
}

function totalOf(rows: readonly UsageRow[]): JsonObject {
  const nothing: Sums = {
    calls: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    charged: 0n,
    savedTokens: 0,
    saving: 0n,
    share: 0n,
  };
  const total = rows.reduce<Sums>(
    (sum, row) => ({
      calls: sum.calls + row.calls,
      promptTokens: sum.promptTokens + row.promptTokens,
      completionTokens: sum.completionTokens + row.completionTokens,
      cachedTokens: sum.cachedTokens + row.cachedTokens,
      charged: sum.charged + row.charged,
      savedTokens: sum.savedTokens + row.savedTokens,
      saving: sum.saving + row.saving,
      share: sum.share + row.share,
    }),
    nothing,
  );
  return sums(total);
}

function unproved(whose: string): TallyError {
  return new TallyError(
    'signature_invalid',
    isApiKeyId(whose)
      ? `Usage is private: send the API key that ${whose} is the id of.`
      : `Usage is private: sign the request as ${whose} (RFC 9421; see spec/identity.md).`,
  );
}
