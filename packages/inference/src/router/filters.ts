import { TallyError } from '@tallystick/core';
import { CARRIED, type Carried, NEEDS, type Need } from '../catalogue/catalogue.ts';
import { AUTO } from './auto.ts';
import type { CandidateRecord, Excluded, RouteInputs } from './record.ts';

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
    if (candidates.length > 0 && candidates.every((candidate) => passes(candidate, inputs))) continue;
    const left = candidates.filter((candidate) => passes(candidate, inputs));
    if (left.length === 0) {
      if (error === null) continue;
      throw error(candidates, inputs);
    }
    for (const candidate of candidates) if (!left.includes(candidate)) excluded.set(candidate.model, name);
    candidates = left;
  }
  return { candidates, excluded };
}

/** Whether a preference names the candidate: by its provider, or by its model. */
export function isNamed({ provider, model }: CandidateRecord, name: string): boolean {
  return name === provider || name === model;
}

/** The tokens of an answer that must fit beside the prompt; 0 if the caller sets no limit. */
export function answerTokens({ max_output }: CandidateRecord, { max_output_tokens }: RouteInputs): number {
  return Math.min(max_output, max_output_tokens);
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
    passes: ({ input_price, output_price }, { max_price }) =>
      within(input_price, max_price.prompt) && within(output_price, max_price.completion),
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
    passes: (candidate, inputs) =>
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

function contextTooLong(last: readonly CandidateRecord[], inputs: RouteInputs): TallyError {
  const largest = last.reduce((best, one) => (one.context > best.context ? one : best));
  return new TallyError(
    'context_too_long',
    `The messages have ${inputs.prompt_tokens} tokens and the answer may take ${answerTokens(largest, inputs)}, ` +
      `but the largest context here is ${largest.context} tokens (${largest.model}). Shorten the messages or lower max_tokens.`,
    { field: 'messages' },
  );
}

function within(price: string, cap: string | null): boolean {
  return cap === null || BigInt(price) <= BigInt(cap);
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(', ');
}
