import { TallyError } from '@tallystick/core';
import { CARRIED, type Carried, NEEDS, type Need } from '../catalogue/catalogue.ts';
import { answerTokens } from './answer-tokens.ts';
import { AUTO } from './auto.ts';
import { expectedCost } from './cost.ts';
import type { CandidateRecord, Excluded, RouteInputs } from './record.ts';
import { dayLimit } from './strategy.ts';
import { gives } from './vector-length.ts';

interface Filter {
  readonly name: Excluded;
  readonly passes: (candidate: CandidateRecord, inputs: RouteInputs) => boolean;
  /** Null for a filter that is left out where it would leave none. */
  readonly error: ((last: readonly CandidateRecord[], inputs: RouteInputs) => Error) | null;
}

export interface Filtered {
  readonly candidates: readonly CandidateRecord[];
  readonly excluded: ReadonlyMap<string, Excluded>;
}

/**
 * The candidates that can serve the request, and for each other one the first filter that it failed.
 * @throws invalid_request (an ability, `provider`, a price cap), context_too_long, RestingError: of the filter that
 * left none
 */
export function filter(inputs: RouteInputs): Filtered {
  let candidates = inputs.candidates;
  const excluded = new Map<string, Excluded>();
  for (const { name, passes, error } of FILTERS) {
    // Usually all pass.
    if (candidates.length > 0 && allPass(candidates, passes, inputs)) continue;
    const left = candidates.filter((candidate) => passes(candidate, inputs));
    if (left.length === 0) {
      if (error === null) continue;
      throw error(candidates, inputs);
    }
    for (const candidate of candidates) if (!left.includes(candidate)) excluded.set(candidate.model, name);
    candidates = left;
  }
  const budget = inputs.strategy?.budget;
  if (budget === undefined) return { candidates, excluded };
  const priced = candidates.map((candidate) => ({ candidate, cost: expectedCost(candidate, inputs) }));
  const limit = dayLimit(
    budget,
    priced.map(({ cost }) => cost),
  );
  for (const { candidate, cost } of priced) if (cost > limit) excluded.set(candidate.model, 'budget');
  return { candidates: candidates.filter(({ model }) => !excluded.has(model)), excluded };
}

/** A loop instead of `every`: every call asks this of every filter, and each closure would be garbage. */
function allPass(
  candidates: readonly CandidateRecord[],
  passes: Filter['passes'],
  inputs: RouteInputs,
): boolean {
  for (const candidate of candidates) if (!passes(candidate, inputs)) return false;
  return true;
}

/** Whether a preference names the candidate: by its provider, or by its model. */
export function isNamed(
  { provider, model }: Pick<CandidateRecord, 'provider' | 'model'>,
  name: string,
): boolean {
  return name === provider || name === model;
}

const NEED_TEXT: Readonly<Record<Need, readonly [field: string, text: string]>> = {
  tools: ['tools', 'accepts tools'],
  vision: ['messages', 'accepts images'],
  json: ['response_format', 'has a JSON mode'],
  logprobs: ['logprobs', 'returns log probabilities'],
  stream: ['stream', 'streams'],
  choices: ['n', 'returns several choices'],
  files: ['messages', 'accepts files'],
  audio: ['messages', 'accepts sound'],
  forced_tools: ['tool_choice', 'can be made to call a tool'],
  other_tools: ['tools', 'accepts tools other than functions'],
  responses: ['input', 'has a provider with a Responses API of its own, which this needs'],
  messages: ['messages', 'has a provider with a Messages API of its own, which this needs'],
};

function isCarried(need: Need): need is Carried {
  return CARRIED.some((one) => one === need);
}

/** The error of the health filter, which knows neither the clock nor how long a rest is. */
export class RestingError extends Error {
  override readonly name = 'RestingError';
  /** Ids of the models that could serve the request, all of which rest. */
  readonly models: readonly string[];

  constructor(models: readonly string[]) {
    super(`${listed(models)} rest`);
    this.models = models;
  }
}

const FILTERS: readonly Filter[] = [
  {
    name: 'retired',
    passes: ({ retired }) => retired !== true,
    error: (last) => noneLeft(last, 'are past the day on which their providers shut them down'),
  },
  {
    name: 'outdated_price',
    passes: ({ outdated_price }) => outdated_price !== true,
    error: (last) => noneLeft(last, 'have prices that are too old to bill by'),
  },
  {
    // A built-in model's answer is of another kind than a language model's.
    name: 'built_in',
    passes: (candidate, { requested, order, only, candidates }) =>
      candidate.built_in !== true ||
      requested !== AUTO ||
      [...order, ...(only ?? [])].some((name) => isNamed(candidate, name)) ||
      candidates.every(({ built_in }) => built_in === true),
    error: () => new RangeError('A built-in model passes when there is no other.'),
  },
  ...NEEDS.map(
    (need): Filter => ({
      name: need,
      passes: ({ abilities, carries = [] }, { needs }) =>
        !needs.includes(need) || (isCarried(need) ? carries.includes(need) : abilities.includes(need)),
      error: (last, { native_member: member }) => {
        const [place, text] = NEED_TEXT[need];
        const field = (need === 'responses' || need === 'messages' ? member : undefined) ?? place;
        const who =
          last.length === 1 ? `${last[0]?.model} is not a model that` : 'None of the remaining models';
        return new TallyError('invalid_request', `${field}: ${who} ${text}. See /v1/compute/models.`, {
          field,
        });
      },
    }),
  ),
  {
    name: 'dimensions',
    // Of a model that is named, its provider knows what the catalogue does not say.
    passes: (candidate, { dimensions = null, requested }) =>
      dimensions === null ||
      (candidate.dimensions === undefined ? requested !== AUTO : gives(candidate.dimensions, dimensions)),
    error: (last, { dimensions }) =>
      new TallyError(
        'invalid_request',
        `dimensions: ${listed(last.map(({ model }) => model))} ${last.length === 1 ? 'gives' : 'give'} no vectors of ${dimensions} numbers. See /v1/compute/models.`,
        { field: 'dimensions' },
      ),
  },
  {
    name: 'provider',
    passes: (candidate, { only, ignore }) =>
      (only === null || only.some((name) => isNamed(candidate, name))) &&
      !ignore.some((name) => isNamed(candidate, name)),
    error: (last) =>
      new TallyError(
        'invalid_request',
        `provider: only and ignore exclude every model that can take the request; those are of ${listed(last.map(({ provider }) => provider))}.`,
        { field: 'provider' },
      ),
  },
  {
    name: 'price',
    passes: (candidate, inputs) => {
      const { prompt, completion, request } = inputs.max_price;
      return (
        within(candidate.input_price, prompt) &&
        within(candidate.output_price, completion) &&
        (request === undefined || expectedCost(candidate, inputs) <= BigInt(request))
      );
    },
    error: (last) =>
      new TallyError(
        'invalid_request',
        `provider.max_price: ${listed(last.map(({ model }) => model))} cost more than that.`,
        {
          field: 'provider.max_price',
        },
      ),
  },
  {
    name: 'context',
    // The texts of a call for embeddings are read one by one.
    passes: (candidate, inputs) =>
      inputs.dimensions !== undefined ||
      inputs.prompt_tokens + answerTokens(candidate, inputs) <= candidate.context,
    error: contextTooLong,
  },
  {
    name: 'health',
    passes: ({ available }) => available,
    error: (last) => new RestingError(last.map(({ model }) => model)),
  },
  {
    name: 'rate_limit',
    passes: ({ limited }) => limited !== true,
    error: null,
  },
];

function noneLeft(last: readonly CandidateRecord[], are: string): TallyError {
  const models = listed(last.map(({ model }) => model));
  return new TallyError('no_model_available', `No model is left: ${models} ${are}.`, { field: 'model' });
}

function contextTooLong(last: readonly CandidateRecord[], inputs: RouteInputs): TallyError {
  const largest = last.reduce((best, one) => (one.context > best.context ? one : best));
  return new TallyError(
    'context_too_long',
    `The messages have ${inputs.prompt_tokens} tokens and the answer may take ${answerTokens(largest, inputs)}, ` +
      `but the largest context here is ${largest.context} tokens (${largest.model}). Shorten the messages, or allow fewer output tokens.`,
    { field: 'messages' },
  );
}

function within(price: string, cap: string | null): boolean {
  return cap === null || BigInt(price) <= BigInt(cap);
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}
