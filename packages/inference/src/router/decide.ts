import { AUTO } from './auto.ts';
import { costWeight, expectedCost } from './cost.ts';
import { type Difficulty, difficultyOf } from './difficulty.ts';
import { filter, isNamed } from './filters.ts';
import { quality } from './quality.ts';
import type { CandidateRecord, RouteInputs, RouteOutcome, ScoreRecord, Why } from './record.ts';
import { type Reference, type Weights, weights } from './weights.ts';

/** Balances cost and quality. The best single model is the best one at this value. */
export const DEFAULT_COST_QUALITY = 5;
/** Quality by which a model must beat the best single one: about the precision of a prediction. */
const MARGIN = 0.01;
const MAX_FALLBACKS = 3;
/** A fallback that is this much worse would give another kind of answer. */
const MAX_QUALITY_LOSS = 0.3;

interface Priced {
  readonly candidate: CandidateRecord;
  readonly cost: bigint;
}

interface Scored extends Priced {
  readonly quality: number;
  readonly score: number;
}

/**
 * The decision follows from the inputs alone: the same inputs give the same outcome. A larger `cost_quality` never
 * leads to a cheaper model.
 * @throws invalid_request, context_too_long, RestingError: see `filter`
 */
export function decide(inputs: RouteInputs, using: Weights = weights): RouteOutcome {
  const { candidates, excluded } = filter(inputs);
  const difficulty = inputs.features && difficultyOf(inputs.features, using.models[inputs.features.form]);
  const priced = candidates.map((candidate) => ({ candidate, cost: expectedCost(candidate, inputs) }));
  const single = inputs.requested === AUTO ? bestSingle(priced) : null;
  const weigh = {
    single,
    difficulty,
    reference: using.reference[inputs.features?.form ?? 'choice'][inputs.domain],
    lambda: costWeight(inputs.cost_quality),
  };
  const scored = rank(
    priced.map((one) => score(one, weigh)),
    inputs,
  );
  const pinned = scored.find(({ candidate }) => candidate.model === inputs.pinned);
  const chosen = pinned ?? scored[0];
  if (chosen === undefined) throw new RangeError('A filter lets at least one candidate through or throws.');
  const ranking = [chosen.candidate.model, ...fallbacks(scored, chosen, inputs)];
  const [model = chosen.candidate.model, ...others] = ranking.filter(
    (one) => !inputs.unaffordable.includes(one),
  );
  return {
    model,
    fallbacks: others,
    why:
      model === chosen.candidate.model
        ? whyOf(scored, chosen, single, pinned !== undefined, inputs)
        : 'balance',
    best_single: single?.model ?? null,
    difficulty: difficulty && { weak: round(difficulty.weak), gain: round(difficulty.gain) },
    scores: inputs.candidates.map(({ model }): ScoreRecord => {
      const found = scored.find(({ candidate }) => candidate.model === model);
      const reason = excluded.get(model) ?? null;
      if (found === undefined)
        return { model, excluded: reason, quality: null, expected_cost: null, score: null };
      const { quality: chance, cost, score: total } = found;
      return {
        model,
        excluded: null,
        quality: round(chance),
        expected_cost: cost.toString(),
        score: round(total),
      };
    }),
  };
}

/**
 * The best model for all prompts: it depends on the domain and the sizes, not on the prompt, and weighs cost by the
 * default.
 */
function bestSingle(priced: readonly Priced[]): CandidateRecord | null {
  const weight = costWeight(DEFAULT_COST_QUALITY);
  const worth = ({ candidate, cost }: Priced): number => candidate.prior - weight * Number(cost);
  const best = priced.toSorted((a, b) => worth(b) - worth(a) || byId(a.candidate, b.candidate))[0];
  return best?.candidate ?? null;
}

/** The scale on which all candidates of a request are compared. */
interface Scale {
  readonly single: CandidateRecord | null;
  readonly difficulty: Difficulty | null;
  readonly reference: Reference;
  readonly lambda: number;
}

function score({ candidate, cost }: Priced, { single, difficulty, reference, lambda }: Scale): Scored {
  const chance = quality(candidate.prior, difficulty, reference);
  const margin = candidate === single ? MARGIN : 0;
  return { candidate, quality: chance, cost, score: chance + margin - lambda * Number(cost) };
}

/** First the caller's own order; then by score, and among equal scores the cheaper first. */
function rank(scored: readonly Scored[], { order }: RouteInputs): Scored[] {
  const place = ({ candidate }: Scored): number => {
    if (order.length === 0) return 0;
    const found = order.findIndex((name) => isNamed(candidate, name));
    return found < 0 ? order.length : found;
  };
  return scored.toSorted(
    (a, b) =>
      place(a) - place(b) || b.score - a.score || Number(a.cost - b.cost) || byId(a.candidate, b.candidate),
  );
}

function fallbacks(scored: readonly Scored[], chosen: Scored, { requested }: RouteInputs): string[] {
  if (requested !== AUTO) return [];
  return scored
    .filter((one) => one !== chosen && one.quality >= chosen.quality - MAX_QUALITY_LOSS)
    .slice(0, MAX_FALLBACKS)
    .map(({ candidate }) => candidate.model);
}

function whyOf(
  scored: readonly Scored[],
  { candidate, score: best }: Scored,
  single: CandidateRecord | null,
  pinned: boolean,
  { requested, order }: RouteInputs,
): Why {
  if (requested !== AUTO) return 'explicit';
  if (pinned) return 'session';
  if (scored.length === 1) return 'only_candidate';
  if (order.some((name) => isNamed(candidate, name))) return 'provider_order';
  const beaten = scored.some((one) => one.candidate !== candidate && one.score > best - MARGIN);
  return candidate === single && beaten ? 'low_margin' : 'best_score';
}

function byId(a: CandidateRecord, b: CandidateRecord): number {
  return a.model < b.model ? -1 : 1;
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
