import { TallyError } from '@tallystick/core';
import { suggest } from '@tallystick/kit';
import { CARRIED, type Catalogue, type Model } from '../catalogue/catalogue.ts';
import type { Domain } from '../catalogue/domains.ts';
import { requireUpkept, type UpkeepTerms } from '../catalogue/upkeep.ts';
import type { Drawn } from '../experiments/draw.ts';
import { kindOf } from '../learning/kinds.ts';
import { type Learned, NOTHING_LEARNED } from '../learning/learned.ts';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { allResting } from '../resilience/unavailable-models.ts';
import type { ChatBody } from '../types.ts';
import { AUTO } from './auto.ts';
import { type CalledModels, Candidates, type Circumstances } from './candidates.ts';
import { DEFAULT_COST_QUALITY, decide } from './decide.ts';
import { supported } from './difficulty.ts';
import { type PromptFeatures, readPrompt } from './features.ts';
import { RestingError } from './filters.ts';
import { MeasuredModels } from './measured.ts';
import { ratingsHash } from './measured-hash.ts';
import { needsOf } from './needs.ts';
import type { RouteExplanation, RouteInputs, RouteOutcome } from './record.ts';
import { createPins, type Pins } from './sessions.ts';
import type { DayBudget, Sort } from './sort.ts';
import { recorded } from './strategy.ts';
import { askedText } from './text.ts';
import { weights } from './weights.ts';

/** Names of providers or ids of models, as in the catalogue. */
export interface ProviderPreferences {
  /** Tried first, in this order. */
  readonly order?: readonly string[];
  readonly only?: readonly string[];
  readonly ignore?: readonly string[];
  /** Nano-USDC for 1,000,000 tokens. */
  readonly maxPrice?: {
    readonly prompt?: bigint;
    readonly completion?: bigint;
    /** Nano-USDC that the call itself may be expected to cost. */
    readonly request?: bigint;
  };
  /** What the models that remain are sorted by; `balanced` when absent. */
  readonly sort?: Sort;
  /** Nano-USDC to be spent in a UTC day: when that comes near, cheaper models are chosen. */
  readonly dailyBudget?: bigint;
}

export interface RouteRequest {
  /** Its `model` is `auto` (also where it is missing), or the id or alias of one model. */
  readonly body: ChatBody;
  readonly promptTokens: number;
  /** 0 where the caller sets no limit. */
  readonly maxOutputTokens: number;
  readonly preferences: ProviderPreferences;
  /** Nano-USDC that the payer's calls of this UTC day cost so far; only read with a budget of the day. */
  readonly spentToday?: bigint;
  /** 0 for the cheapest that is worth its price, to 10 for the best at any price. */
  readonly costQuality?: number;
  /** What chance decided before. */
  readonly drawn?: Pick<Drawn, 'comparison' | 'bandit'>;
  /** With the caller in it, so that no caller meets another's pin; null for none. */
  readonly session: string | null;
  /** The caller's protocol and the member of its request, if only a provider of that protocol can serve it. */
  readonly nativeOnly?: { readonly protocol: SpokenProtocol; readonly member: string } | null;
}

export interface RouteDecision {
  readonly model: Model;
  /** What to try next, in this order; none for a model that was asked for by name. */
  readonly fallbacks: readonly Model[];
  /** To be replayed by `replay`. */
  readonly explanation: RouteExplanation;
}

export interface Router {
  /**
   * Sends nothing; remembers only the session's model.
   * @throws model_not_found; invalid_request for what no model can do; context_too_long with the sizes;
   * no_model_available where those that could are resting; model_gone where the provider of the named one has it
   * no more
   */
  route(request: RouteRequest): RouteDecision;
}

/** What the router knows of models while they are called. */
export interface ModelState extends CalledModels {
  /** What is measured of the models now; when absent nothing is. */
  readonly learned?: () => Learned;
  /** What keeps a catalogue's entry from being used, or will; when absent nothing does. */
  readonly upkeep?: () => UpkeepTerms;
}

/** @param pins of sessions, which may outlive the catalogue */
export function createRouter(catalogue: Catalogue, health: ModelState, pins: Pins = createPins()): Router {
  const chat = catalogue.models.filter(({ kind }) => kind === 'chat');
  const byId = new Map(chat.map((model) => [model.id, model]));
  const measuredModels = new MeasuredModels();
  const records = new Candidates(health, chat);

  return {
    route(request) {
      const requested = request.body['model'] ?? AUTO;
      const named = requested === AUTO ? null : find(catalogue, requested);
      const upkeep = health.upkeep?.();
      if (named !== null && upkeep !== undefined) requireUpkept(named, upkeep);
      const features = named === null ? readPrompt(askedText(request.body)) : null;
      const domain = features === null ? 'general' : domainOf(features);
      const asked = askedFor(request, named);
      const models = named === null ? chat : [named];
      const kind = features && kindOf({ form: features.form, domain }, asked.needs);
      const learned = health.learned?.() ?? NOTHING_LEARNED;
      const circumstances: Circumstances = {
        domain,
        promptTokens: request.promptTokens,
        measured: measuredModels.read(learned, kind, models, named?.id ?? AUTO),
        ratings: request.drawn?.bandit?.ratings ?? null,
        carried: CARRIED.filter((need) => asked.needs.includes(need)),
        upkeep,
      };
      const candidates = records.of(models, circumstances);
      const seed = request.drawn?.bandit?.seed;
      const inputs: RouteInputs = {
        ...asked,
        pinned: named === null && request.session !== null ? pins.get(request.session) : null,
        domain,
        features: features && { form: features.form, values: features.values },
        ...(circumstances.measured.hash !== null && { learned: circumstances.measured.hash }),
        ...(request.drawn?.comparison && { comparison: request.drawn.comparison }),
        ...(seed !== undefined && { bandit: { seed, ratings: ratingsHash(candidates) } }),
        candidates,
        unaffordable: [],
      };
      const outcome = decideOr(inputs, (ids) => {
        const models = ids.flatMap((id) => byId.get(id) ?? []);
        return allResting(models, health, named !== null);
      });
      if (named === null && request.session !== null) pins.set(request.session, outcome.model);
      const explanation: RouteExplanation = { version: 1, inputs, outcome };
      const model = named ?? byId.get(outcome.model);
      if (model === undefined) throw new RangeError('The outcome is one of the candidates.');
      return {
        model,
        fallbacks: outcome.fallbacks.flatMap((id) => byId.get(id) ?? []),
        explanation,
      };
    },
  };
}

/** @param resting what is thrown where all models that could take the request rest; gets their ids */
export function decideOr(
  inputs: RouteInputs,
  resting: (models: readonly string[]) => TallyError,
): RouteOutcome {
  try {
    return decide(inputs);
  } catch (error) {
    throw error instanceof RestingError ? resting(error.models) : error;
  }
}

function find(catalogue: Catalogue, requested: unknown): Model {
  const found = typeof requested === 'string' ? catalogue.find(requested) : null;
  if (found?.kind === 'chat') return found;
  const name = typeof requested === 'string' ? requested : JSON.stringify(requested);
  const ids = catalogue.models.filter(({ kind }) => kind === 'chat').map(({ id }) => id);
  const near = suggest(name, ids);
  const problem = found === null ? 'is not a model of this service' : 'returns embeddings, not completions';
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new TallyError('model_not_found', `${name} ${problem}.${hint} See /v1/compute/models.`, {
    field: 'model',
  });
}

/** A free prompt is known to the difficulty model only as a word problem of arithmetic. */
export function domainOf(features: PromptFeatures, { models } = weights): Domain {
  const known = features.form === 'free' && supported(features.values, models.free);
  return known ? 'mathematics' : features.domain;
}

export function askedFor(
  request: RouteRequest,
  named: Model | null,
): Omit<RouteInputs, 'pinned' | 'domain' | 'features' | 'candidates' | 'unaffordable'> {
  const { nativeOnly } = request;
  const { order = [], only, ignore = [], maxPrice, sort = 'balanced' } = request.preferences;
  return {
    weights: weights.id,
    requested: named?.id ?? AUTO,
    prompt_tokens: request.promptTokens,
    max_output_tokens: request.maxOutputTokens,
    cost_quality: request.costQuality ?? DEFAULT_COST_QUALITY,
    needs: needsOf(request.body, nativeOnly?.protocol),
    ...(nativeOnly && { native_member: nativeOnly.member }),
    order: [...order],
    only: only === undefined ? null : [...only],
    ignore: [...ignore],
    max_price: {
      prompt: maxPrice?.prompt?.toString() ?? null,
      completion: maxPrice?.completion?.toString() ?? null,
      ...(maxPrice?.request !== undefined && { request: maxPrice.request.toString() }),
    },
    ...recorded(sort, budgetOf(request)),
  };
}

function budgetOf({ preferences, spentToday = 0n }: RouteRequest): DayBudget | null {
  const { dailyBudget } = preferences;
  return dailyBudget === undefined ? null : { per_day: dailyBudget.toString(), spent: spentToday.toString() };
}
