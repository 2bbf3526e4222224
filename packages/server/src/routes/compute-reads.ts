import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, type Client, isApiKeyId, spendersOf } from '@tallystick/callers';
import { type JsonObject, STATUS_STATES, TallyError } from '@tallystick/core';
import {
  chatRequestSchema,
  estimateChat,
  FREE_READ_ERRORS,
  localCards,
  type Model,
  modelPriceDocument,
  money,
  type PipelineContext,
  READ_PRICE,
  readChatRequest,
  SERVICE_TIERS,
  upkeepOf,
} from '@tallystick/inference';
import { callerAccount, DEVELOPMENT, tierOf, type UsageRow } from '@tallystick/ledger';
import type { Config } from '../config/config.ts';
import { json } from '../http/answer.ts';
import { OPENAI } from '../http/dialect.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ACCOUNT_CREDENTIALS, READ_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { COMPUTE, READ_HEADERS } from './compute-shapes.ts';
import { compressionSchema, moneySchema, priceSchema } from './compute-svc-shapes.ts';
import { count, did, usdc } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'store' | 'callers' | 'freeReads' | 'compute'>;

/** Models, prices and the caller's own usage (specification 4.3). */
export function computeReadRoutes(services: Needs): Endpoint[] {
  return [models(services), model(services), estimate(services), usage(services)];
}

const modelSchema = z
  .object({
    id: z.string().openapi({ description: 'What `model` of a call names.', example: 'local/extract-1' }),
    object: z.literal('model').openapi({ description: 'Always this.' }),
    created: z.int().openapi({ description: 'Always 0: the service has no date for a model.' }),
    owned_by: z.string().openapi({ description: 'The provider.', example: 'local' }),
    svc: z
      .looseObject({
        kind: z.enum(['chat', 'embedding']).openapi({ description: 'What the model does.' }),
        context: count.openapi({ description: 'The most tokens of prompt and answer together.' }),
        max_output: count.nullable().openapi({ description: 'The most tokens of an answer.' }),
        dimensions: z
          .object({
            default: count.openapi({ description: 'The length where none is asked for.' }),
            shorter: z
              .union([z.literal('any'), z.array(count)])
              .openapi({ description: 'The shorter ones that can be asked for.' }),
          })
          .optional()
          .openapi({ description: 'The lengths of an embedding model’s vectors, as far as they are known.' }),
        abilities: z.array(z.string()).openapi({ description: 'What the model takes, such as `tools`.' }),
        price_per_million_tokens: priceSchema,
        tariffs: z
          .array(
            z.object({
              above_tokens: count
                .nullable()
                .openapi({ description: 'Only for prompts of more tokens than this; null for any.' }),
              service_tier: z
                .enum(SERVICE_TIERS)
                .nullable()
                .openapi({ description: 'Only for calls that the provider served so; null for any.' }),
              price_per_million_tokens: priceSchema,
            }),
          )
          .openapi({
            description: 'Other prices, for some calls. Of those that apply, the last one counts.',
          }),
        price_source: z
          .object({
            page: z.string().openapi({ description: 'The page that states the prices.' }),
            read_on: z.string().openapi({ description: 'The day on which it was read.' }),
            copy: z
              .boolean()
              .openapi({ description: 'Whether a stored copy was read, which may be older than that day.' }),
            valid_until: z.string().nullable().openapi({
              description: 'The last day on which the page promises them; null if it does not say.',
            }),
          })
          .nullable()
          .openapi({
            description: 'Where the prices are from; null for a free model, or one that the operator priced.',
          }),
        retires_at: z.string().nullable().openapi({
          description: 'The day on which its provider shuts it down; null if none is announced.',
        }),
        successors: z.array(z.string()).openapi({ description: 'What its provider recommends instead.' }),
        warning: z.enum(['retired', 'price_outdated', 'retires_soon', 'price_old']).nullable().openapi({
          description:
            'What is wrong with the entry, or will be. With `retired` and `price_outdated` the model is not called.',
        }),
        hardware: z.string().nullable().openapi({ description: 'What it runs on, as far as is known.' }),
        region: z.string().nullable().openapi({ description: 'Where it runs, as far as is known.' }),
        health: z
          .object({
            state: z.enum(STATUS_STATES).openapi({ description: '`unknown` where nobody called it lately.' }),
            code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
          })
          .openapi({ description: 'The state that calls of the last minutes showed, as in `/status`.' }),
      })
      .openapi({ description: 'What the service knows of the model; of a built-in one also its `card`.' }),
  })
  .openapi('Model', { description: 'A model, as OpenAI lists it, with `svc`.' });

/** The service has no date for a model, so it gives the epoch where OpenAI's clients expect one. */
const CREATED = 0;

function models({ compute, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/models',
    operationId: 'listModels',
    credentials: READ_CREDENTIALS,
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
          object: z.literal('list').openapi({ description: 'Always this.' }),
          data: z.array(modelSchema).openapi({ description: 'The models.' }),
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

function model({ compute, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/models/{id}',
    operationId: 'getModel',
    credentials: READ_CREDENTIALS,
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

function modelDocument(model: Model, { health, upkeep }: Pick<PipelineContext, 'health' | 'upkeep'>) {
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
      ...(model.dimensions && { dimensions: model.dimensions }),
      abilities: [...model.abilities],
      ...modelPriceDocument(model.price),
      retires_at: model.retiresOn ?? null,
      successors: [...(model.successors ?? [])],
      warning: upkeepOf(model, upkeep()),
      prior: model.prior,
      hardware: model.hardware,
      region: model.region,
      health: health.light(model),
      ...(card !== undefined && { card }),
    },
  };
}

const estimateSchema = z
  .looseObject({
    model: z.string().openapi({ description: 'The model that would answer.' }),
    tokens: z
      .looseObject({
        prompt: count.openapi({ description: 'Tokens of the prompt, as it would be sent.' }),
        max_completion: count.openapi({ description: 'The most tokens of the answer, of all choices.' }),
        counted_with: z.string().openapi({ description: 'The encoding that counted.' }),
      })
      .openapi({ description: 'What the call would be charged by.' }),
    compression: compressionSchema,
    price_per_million_tokens: priceSchema,
    cost: z
      .object({
        asset: usdc,
        min: moneySchema.openapi({ description: 'Of the prompt alone.' }),
        max: moneySchema.openapi({ description: 'With the longest answer.' }),
      })
      .openapi({ description: 'What the call would be charged.' }),
    cashback: z
      .looseObject({
        asset: usdc,
        saving: moneySchema.openapi({ description: 'What compression would save.' }),
        expected: moneySchema.openapi({ description: 'The caller’s share of the saving.' }),
        percent: z.int().openapi({ description: 'That share, in percent.' }),
        tier: z.string().openapi({ description: 'The member tier that it follows from.' }),
        as: z.enum(['discount', 'credit']).openapi({ description: 'How it would come back.' }),
        to: z.string().nullable().openapi({ description: 'The DID that it would be credited to.' }),
      })
      .openapi({ description: 'What would come back.' }),
    routing: z.looseObject({}).openapi({ description: 'Why the model would be chosen.' }),
  })
  .openapi('Estimate', { description: 'What a chat call would come to, without making it.' });

function estimate({ compute, callers, freeReads, config, store }: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/compute/estimate',
    operationId: 'estimateChatCompletion',
    credentials: READ_CREDENTIALS,
    group: COMPUTE,
    summary: 'Estimate a chat call',
    description:
      'Takes the body of a chat call and returns how many tokens compression would leave, where the call would be routed, its maximum cost and the share of the saving that would come back. No model is called.',
    availability: 'live',
    dialect: OPENAI,
    headers: READ_HEADERS,
    price: READ_PRICE,
    body: chatRequestSchema,
    maxBodyBytes: config.compute.maxBodyBytes,
    example: { messages: [{ role: 'user', content: 'What is a tally stick?' }], max_completion_tokens: 200 },
    answers: {
      200: {
        description: 'The estimate',
        schema: estimateSchema,
      },
    },
    errors: [
      ...FREE_READ_ERRORS,
      'model_not_found',
      'model_gone',
      'price_outdated',
      'context_too_long',
      'no_model_available',
    ],
    admit: callers.keyOf,
    async handle(call) {
      const client = await freeReads.admit(call);
      const { did } = client;
      const tier = tierOf(did === null ? null : await store.ledger.member(did));
      const estimator = { ...payerOf(client), did, tier };
      const { pipeline } = compute;
      return json(await estimateChat(pipeline, readChatRequest(call.body, pipeline.catalogue), estimator));
    },
  });
}

/** Who would pay for a call of a client that asks about one. */
export function payerOf({ key, did, proved }: Client) {
  const payer = key?.id ?? (proved ? did : null);
  return {
    name: payer === null ? DEVELOPMENT : callerAccount(payer),
    subject: did ?? key?.id ?? DEVELOPMENT,
    key,
    spenders: key === null ? [] : spendersOf(key),
  };
}

const usageMembers = {
  calls: count.openapi({ description: 'Number of calls.' }),
  prompt_tokens: count.openapi({ description: 'Tokens of their prompts.' }),
  completion_tokens: count.openapi({ description: 'Tokens of their answers.' }),
  cached_tokens: count.openapi({ description: 'Of the prompts, tokens read from providers’ caches.' }),
  charged: moneySchema.openapi({ description: 'What they were charged.' }),
  saved_tokens: z.int().openapi({ description: 'Tokens that compression saved.' }),
  saving: moneySchema.openapi({ description: 'What that saved.' }),
  share: moneySchema.openapi({ description: 'What of the saving went back.' }),
};

const usageSchema = z
  .object({
    did: z.string().openapi({ description: 'Whose usage it is: a DID, or the id of an API key.' }),
    days: z
      .array(
        z.object({
          day: z.iso.date().openapi({ description: 'The UTC day.' }),
          model: z.string().openapi({ description: 'The id of the model.' }),
          ...usageMembers,
        }),
      )
      .openapi({ description: 'One entry for each day and model.' }),
    total: z.object(usageMembers).openapi({ description: 'The sums of `days`.' }),
    account: z
      .object({
        asset: usdc,
        balance: moneySchema.openapi({ description: 'What is in the account.' }),
        reserved: moneySchema.openapi({ description: 'Of it, what is put aside for calls under way.' }),
      })
      .openapi({ description: 'The account that pays for it.' }),
  })
  .openapi('Usage', { description: 'The calls of a DID or an API key, by UTC day and model.' });

const apiKeyId = z.string().refine(isApiKeyId, 'Not a DID, and not the id of an API key');
const day = (description: string) => z.iso.date().optional().openapi({ description, example: '2026-03-01' });

function usage({ store, freeReads, config }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/usage/{did}',
    operationId: 'getUsage',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Read the usage of a DID or an API key',
    description:
      'Usage by UTC day and model. In production the DID must be proved by an HTTP message signature (RFC 9421). The id of an API key (`key_…`) stands for the calls that the key paid for without a DID, and only that key may read it.',
    availability: 'live',
    headers: READ_HEADERS,
    price: READ_PRICE,
    params: z.object({
      did: z.union([did, apiKeyId]).openapi({ description: 'A DID, or the id of an API key.' }),
    }),
    query: z.strictObject({
      from: day('The first UTC day; from the beginning when absent.'),
      to: day('The last UTC day; up to now when absent.'),
    }),
    answers: {
      200: {
        description: 'The usage, and the balance of the account',
        schema: usageSchema,
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
        days: rows.map((row) => ({ day: row.day, model: row.model, ...sums([row]) })),
        total: sums(rows),
        account: { asset: 'USDC', balance: money(balance), reserved: money(reserved) },
      });
    },
  });
}

/** Who may read usage: a DID if it is proved (in development also without proof), and a key always its own. */
function mayRead({ key, did, proved }: Client, whose: string, { mode }: Pick<Config, 'mode'>): boolean {
  if (isApiKeyId(whose)) return key?.id === whose;
  return mode === 'development' || (proved && did === whose);
}

/** What calls came to, together. */
function sums(rows: readonly UsageRow[]): JsonObject {
  const count = (name: 'calls' | 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'savedTokens') =>
    rows.reduce((sum, row) => sum + row[name], 0);
  const amount = (name: 'charged' | 'saving' | 'share') =>
    money(rows.reduce((sum, row) => sum + row[name], 0n));
  return {
    calls: count('calls'),
    prompt_tokens: count('promptTokens'),
    completion_tokens: count('completionTokens'),
    cached_tokens: count('cachedTokens'),
    charged: amount('charged'),
    saved_tokens: count('savedTokens'),
    saving: amount('saving'),
    share: amount('share'),
  };
}

function unproved(whose: string): TallyError {
  return new TallyError(
    'signature_invalid',
    isApiKeyId(whose)
      ? `Usage is private: send the API key that ${whose} is the id of.`
      : `Usage is private: sign the request as ${whose} (RFC 9421; see spec/identity.md).`,
  );
}
