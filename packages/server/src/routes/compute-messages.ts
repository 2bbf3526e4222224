import { z } from '@hono/zod-openapi';
import type { JsonObject } from '@tallystick/core';
import { TallyError } from '@tallystick/core';
import {
  countMessageTokens,
  countTokensSchema,
  FREE_READ_ERRORS,
  type Model,
  READ_PRICE,
  type UpkeepTerms,
  upkeepOf,
} from '@tallystick/inference';
import { json } from '../http/answer.ts';
import { ANTHROPIC } from '../http/dialect.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { READ_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { payerOf } from './compute-reads.ts';
import { COMPUTE, READ_HEADERS } from './compute-shapes.ts';
import { count } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'callers' | 'freeReads' | 'compute'>;

/** What Anthropic's clients ask beside messages: token counts and models. */
export function messagesReadRoutes(services: Needs): Endpoint[] {
  return [
    countTokens(services, {
      path: '/v1/compute/messages/count_tokens',
      operationId: 'countMessageTokens',
      summary: 'Count the tokens of a message',
    }),
    countTokens(services, {
      path: '/v1/compute/v1/messages/count_tokens',
      operationId: 'countMessageTokensV1',
      summary: 'Count the tokens of a message, at the path of Anthropic’s clients',
    }),
    models(services),
    model(services),
  ];
}

interface CountRoute {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
}

function countTokens({ config, callers, freeReads, compute }: Needs, route: CountRoute): Endpoint {
  return endpoint({
    method: 'post',
    ...route,
    credentials: READ_CREDENTIALS,
    group: COMPUTE,
    description:
      'Counts the prompt of a Messages request by the tokenizer of the model that it names; for `auto`, of the one that a call would be routed to now. No model is called. A model whose tokenizer is not public is counted with o200k, so its provider may count differently.',
    availability: 'live',
    dialect: ANTHROPIC,
    headers: READ_HEADERS,
    price: READ_PRICE,
    body: countTokensSchema,
    maxBodyBytes: config.compute.maxBodyBytes,
    example: { model: 'auto', messages: [{ role: 'user', content: 'What is a tally stick?' }] },
    answers: {
      200: {
        description: 'The count',
        schema: z.object({ input_tokens: count.openapi({ description: 'Tokens of the prompt.' }) }),
      },
    },
    errors: [...FREE_READ_ERRORS, 'model_not_found'],
    admit: callers.keyOf,
    async handle(call) {
      const payer = payerOf(await freeReads.admit(call));
      const tokens = await countMessageTokens(compute.pipeline, call.body as JsonObject, payer);
      return json({ input_tokens: tokens });
    },
  });
}

const modelSchema = z
  .object({
    type: z.literal('model').openapi({ description: 'Always this.' }),
    id: z.string().openapi({ description: 'What `model` of a call names.', example: 'local/extract-1' }),
    display_name: z.string().openapi({ description: 'The same as `id`.' }),
    created_at: z.iso
      .datetime()
      .openapi({ description: 'Always 1970: the service has no date for a model.' }),
    max_input_tokens: count.openapi({ description: 'The most tokens of prompt and answer together.' }),
    max_tokens: count.openapi({ description: 'The most tokens of an answer.' }),
    capabilities: z.null().openapi({ description: 'Always null; `/v1/compute/models` lists abilities.' }),
    lifecycle: z
      .enum(['active', 'deprecated', 'retired'])
      .openapi({ description: '`deprecated` once `retires_at` is known, `retired` from then on.' }),
    line: z.null().openapi({ description: 'Always null.' }),
    deprecated_at: z.null().openapi({ description: 'Always null.' }),
    retires_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When its provider shuts it down; null if that is not announced.' }),
  })
  .openapi('AnthropicModel', { description: 'A chat model, as Anthropic lists it.' });

function modelDocument(model: Model, terms: UpkeepTerms): z.infer<typeof modelSchema> {
  const { id, context, maxOutput, retiresOn } = model;
  const known = retiresOn === undefined ? 'active' : 'deprecated';
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: context,
    max_tokens: maxOutput,
    capabilities: null,
    lifecycle: upkeepOf(model, terms) === 'retired' ? 'retired' : known,
    line: null,
    deprecated_at: null,
    retires_at: retiresOn === undefined ? null : `${retiresOn}T00:00:00Z`,
  };
}

const MAX_PAGE = 1_000;
const PAGE = 20;

const pageQuery = z.looseObject({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|1000)$/, `Not 1 to ${MAX_PAGE}`)
    .optional()
    .openapi({ description: `${PAGE} when absent, ${MAX_PAGE} at most.` }),
  after_id: z.string().optional().openapi({ description: 'The page begins after this model.' }),
  before_id: z.string().optional().openapi({ description: 'The page ends before this model.' }),
});

function models({ compute, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/v1/models',
    operationId: 'listAnthropicModels',
    credentials: READ_CREDENTIALS,
    group: COMPUTE,
    summary: 'List the models, as Anthropic does',
    description: 'The chat models of `/v1/compute/models` in the form of Anthropic’s API, in pages.',
    availability: 'live',
    dialect: ANTHROPIC,
    headers: READ_HEADERS,
    price: READ_PRICE,
    query: pageQuery,
    answers: {
      200: {
        description: 'A page of the models whose provider is configured',
        schema: z.object({
          data: z.array(modelSchema).openapi({ description: 'The models.' }),
          has_more: z
            .boolean()
            .openapi({ description: 'Whether there are more in the direction asked for.' }),
          first_id: z.string().nullable().openapi({ description: 'The first model; null on an empty page.' }),
          last_id: z.string().nullable().openapi({ description: 'The last model; null on an empty page.' }),
        }),
      },
    },
    errors: FREE_READ_ERRORS,
    async handle(call) {
      await freeReads.admit(call);
      const all = chatModels(compute).map(({ id }) => id);
      const { after_id: after, before_id: before } = call.query;
      const limit = Number(call.query.limit ?? PAGE);
      const from = after === undefined ? 0 : placeOf(all, after, 'after_id') + 1;
      const to = before === undefined ? all.length : placeOf(all, before, 'before_id');
      // Before a model, a page holds those nearest to it.
      const start = before === undefined ? from : Math.max(from, to - limit);
      const end = Math.min(to, start + limit);
      const terms = compute.pipeline.upkeep();
      const data = chatModels(compute)
        .slice(start, end)
        .map((one) => modelDocument(one, terms));
      return json({
        data,
        has_more: before === undefined ? end < to : start > from,
        first_id: data.at(0)?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
      });
    },
  });
}

/** As Anthropic's list does, this one leaves out the models that are retired. */
function chatModels({ pipeline: { catalogue, upkeep } }: Needs['compute']): Model[] {
  const terms = upkeep();
  return catalogue.models.filter((model) => model.kind === 'chat' && upkeepOf(model, terms) !== 'retired');
}

function placeOf(ids: readonly string[], id: string, field: string): number {
  const place = ids.indexOf(id);
  if (place >= 0) return place;
  throw new TallyError('invalid_request', `${field}: there is no model of this id.`, { field });
}

function model({ compute, freeReads }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/v1/models/{id}',
    operationId: 'getAnthropicModel',
    credentials: READ_CREDENTIALS,
    rest: true,
    group: COMPUTE,
    summary: 'Read a model, as Anthropic does',
    availability: 'live',
    dialect: ANTHROPIC,
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
      if (found?.kind === 'chat') return json(modelDocument(found, compute.pipeline.upkeep()));
      throw new TallyError(
        'model_not_found',
        `There is no model “${call.params.id.slice(0, 80)}”. GET /v1/compute/v1/models lists them.`,
        { field: 'id' },
      );
    },
  });
}
