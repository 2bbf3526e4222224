import { z } from '@hono/zod-openapi';
import type { Limits } from '@tallystick/callers';
import { type JsonValue, TallyError } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import type { Catalogue } from './catalogue/catalogue.ts';

const MOST = 1_000_000_000;
const usdc = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,8})(?:\.\d{1,9})?$/, 'Not decimal USDC such as 12.5, below a billion')
  .nullish();
const rate = z.int().min(1).max(MOST).nullish();
const names = z.array(z.string().min(1).max(200)).min(1).max(100).nullish();

/** The limits of an API key or a DID, as they are sent. */
export const limitsSchema = z
  .strictObject({
    day_usdc: usdc.openapi({ description: 'What the calls of a UTC day may cost, in USDC.', example: '5' }),
    month_usdc: usdc.openapi({
      description: 'What the calls of a calendar month (UTC) may cost, in USDC.',
      example: '100',
    }),
    requests_per_minute: rate.openapi({ description: 'Calls in a minute.', example: 60 }),
    tokens_per_minute: rate.openapi({
      description:
        'Tokens in a minute, of prompts and answers; a call under way counts with the most that it may use.',
      example: 200_000,
    }),
    models: names.openapi({
      description: 'Ids or aliases of the models that may serve calls, and no others.',
    }),
    providers: names.openapi({ description: 'Names of the providers that may serve calls, and no others.' }),
    max_price: z
      .strictObject({
        prompt: usdc.openapi({ description: 'The most for 1,000,000 tokens of the prompt, in USDC.' }),
        completion: usdc.openapi({ description: 'The most for 1,000,000 tokens of the answer, in USDC.' }),
        request: usdc.openapi({ description: 'The most that a call is expected to cost, in USDC.' }),
      })
      .nullish()
      .openapi({ description: 'The dearest model that may serve calls.' }),
  })
  .openapi('Limits', { description: 'Limits of calls. A member that is absent or null is no limit.' });

/** Checks limits that are to be set. @throws unknown_field, invalid_field */
export function checkLimits(json: JsonValue): Limits {
  return validate(limitsSchema, json);
}

/** @throws invalid_field for limits that name models or providers that the catalogue does not have */
export function requireCatalogued({ models, providers }: Limits, catalogue: Catalogue): void {
  requireKnown('models', models, (name) => catalogue.find(name) !== null);
  requireKnown('providers', providers, (name) => catalogue.models.some(({ provider }) => provider === name));
}

function requireKnown(
  member: 'models' | 'providers',
  names: readonly string[] | null | undefined,
  isKnown: (name: string) => boolean,
): void {
  for (const [index, name] of (names ?? []).entries()) {
    if (isKnown(name)) continue;
    const field = `limits.${member}[${index}]`;
    throw new TallyError(
      'invalid_field',
      `${field}: the catalogue has no such name. See /v1/compute/models.`,
      {
        field,
      },
    );
  }
}
