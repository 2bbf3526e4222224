import { TallyError } from '@tallystick/core';
import type { Catalogue, Model } from '../catalogue/catalogue.ts';
import { requireUpkept } from '../catalogue/upkeep.ts';
import { allResting } from '../resilience/unavailable-models.ts';
import { AUTO } from './auto.ts';
import { describe, flagsOf } from './candidates.ts';
import type { CandidateRecord, RouteInputs } from './record.ts';
import { askedFor, decideOr, type ModelState, type RouteDecision, type RouteRequest } from './router.ts';

/** A call for embeddings, as it is routed. */
export interface EmbeddingRoute
  extends Pick<RouteRequest, 'preferences' | 'promptTokens' | 'spentToday' | 'costQuality'> {
  /** `auto`, or the id or alias of one model. */
  readonly model: string;
  /** The length of vectors that is asked for; null where any will do. */
  readonly dimensions: number | null;
}

/**
 * Chooses the model for a call for embeddings: by what the caller prefers, else the cheapest, among the models that
 * give vectors of the length that is asked for. Vectors of two models cannot be compared, so a named model has no
 * fallbacks, and those of `auto` give at least vectors of one length.
 * @throws model_not_found; invalid_request for what no model can do; no_model_available, model_gone
 */
export function routeEmbedding(
  catalogue: Catalogue,
  health: ModelState,
  { model: requested, dimensions, ...request }: EmbeddingRoute,
): RouteDecision {
  const models = catalogue.models.filter(({ kind }) => kind === 'embedding');
  const named = requested === AUTO ? null : catalogue.find(requested);
  if (models.length === 0 || (requested !== AUTO && named?.kind !== 'embedding'))
    throw unknownModel(requested, models);
  const upkeep = health.upkeep?.();
  if (named !== null && upkeep !== undefined) requireUpkept(named, upkeep);
  const preferences = { sort: 'price', ...request.preferences } as const;
  const inputs: RouteInputs = {
    ...askedFor({ ...request, preferences, body: {}, maxOutputTokens: 0, session: null }, named),
    dimensions,
    pinned: null,
    domain: 'general',
    features: null,
    candidates: (named === null ? models : [named]).map((model) => recordOf(model, health)),
    unaffordable: [],
  };
  const modelsOf = (ids: readonly string[]): Model[] =>
    ids.flatMap((id) => models.find((model) => model.id === id) ?? []);
  const outcome = decideOr(inputs, (ids) => allResting(modelsOf(ids), health, named !== null));
  const [model, ...fallbacks] = modelsOf([outcome.model, ...outcome.fallbacks]);
  if (model === undefined) throw new RangeError('The outcome is one of the candidates.');
  return { model, fallbacks, explanation: { version: 1, inputs, outcome } };
}

function recordOf(model: Model, health: ModelState): CandidateRecord {
  return {
    ...describe(model),
    ...(model.dimensions && { dimensions: model.dimensions }),
    prior: model.prior.general,
    available: health.rest(model) === null,
    ...(health.limited?.(model) === true && { limited: true }),
    ...flagsOf(model, health.upkeep?.()),
  };
}

function unknownModel(name: string, models: readonly Model[]): TallyError {
  return new TallyError(
    'model_not_found',
    `There is no embedding model “${name.slice(0, 80)}”. Known: ${models.map(({ id }) => id).join(', ') || 'none'}.`,
    { field: 'model' },
  );
}
