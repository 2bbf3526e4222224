import { drawnQuality } from '../experiments/bandit.ts';
import { AUTO } from './auto.ts';
import { costWeight, expectedCost } from './cost.ts';
import { type Difficulty, difficultyOf } from './difficulty.ts';
import { filter, isNamed } from './filters.ts';
import { quality } from './quality.ts';
import type { CandidateRecord, RouteInputs, RouteOutcome, ScoreRecord, Why } from './record.ts';
import { comparerOf } from './strategy.ts';
import { sameLength } from './vector-length.ts';
import { type Reference, type Weights, weights } from './weights.ts';

/** Balances cost and quality. The best single model is the best one at this value. */
export const DEFAULT_COST_QUALITY = 5;
/** Quality by which a model must beat the best single one: about the precision of a prediction. */
const MARGIN = 0.01;
const MARGIN_OF_GAIN = 0.1;
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
 * leads to a cheaper model, whatever the strategy.
 * @throws invalid_request, context_too_long, RestingError: see `filter`
 */
export function decide(inputs: RouteInputs, using: Weights = weights): RouteOutcome {
  const { candidates, excluded } = filter(inputs);
  const difficulty = inputs.features && difficultyOf(inputs.features, using);
  const priced = candidates.map((candidate) => ({ candidate, cost: expectedCost(candidate, inputs) }));
  const single = inputs.requested === AUTO ? bestSingle(priced) : null;
  const weigh = {
    single,
    difficulty,
    reference: referenceOf(inputs, difficulty, using),
    lambda: costWeight(inputs.cost_quality),
    seed: inputs.bandit?.seed ?? null,
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
    difficulty: difficulty && {
      ...difficulty,
      weak: round(difficulty.weak),
      gain: round(difficulty.gain),
    },
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
  /** Null where no quality is drawn. */
  readonly seed: string | null;
}

function score({ candidate, cost }: Priced, scale: Scale): Scored {
  const { single, difficulty, reference, lambda, seed } = scale;
  const predicted = quality(candidate.prior, difficulty, reference);
  const chance =
    seed === null ? predicted : drawnQuality(predicted, candidate.ratings, seed, candidate.model);
  const margin = candidate === single ? marginOf(difficulty) : 0;
  return { candidate, quality: chance, cost, score: chance + margin - lambda * Number(cost) };
}

/** Where a strong model gains little, a wrong prediction costs little. */
function marginOf(difficulty: Difficulty | null): number {
  return difficulty === null ? MARGIN : Math.min(MARGIN, MARGIN_OF_GAIN * Math.max(0, difficulty.gain));
}

function referenceOf(
  { features, domain }: RouteInputs,
  difficulty: Difficulty | null,
  using: Weights,
): Reference {
  return using.reference[difficulty?.basis === 'graded' && features !== null ? features.form : 'choice'][
    domain
  ];
}

/** First the caller's own order; then what the strategy sorts by; then by score, and among equal scores the cheaper first. */
function rank(scored: readonly Scored[], { order, strategy }: RouteInputs): Scored[] {
  const sorted = comparerOf(
    strategy?.sort ?? 'balanced',
    scored.map(({ candidate }) => candidate),
  );
  const place = ({ candidate }: Scored): number => {
    if (order.length === 0) return 0;
    const found = order.findIndex((name) => isNamed(candidate, name));
    return found < 0 ? order.length : found;
  };
  return scored.toSorted(
    (a, b) =>
      place(a) - place(b) ||
      sorted(a, b) ||
      b.score - a.score ||
      Number(a.cost - b.cost) ||
      byId(a.candidate, b.candidate),
  );
}

function fallbacks(scored: readonly Scored[], chosen: Scored, inputs: RouteInputs): string[] {
  if (inputs.requested !== AUTO) return [];
  return scored
    .filter((one) => one !== chosen && one.quality >= chosen.quality - MAX_QUALITY_LOSS)
    .filter(({ candidate }) => sameLength(candidate, chosen.candidate, inputs))
    .slice(0, MAX_FALLBACKS)
    .map(({ candidate }) => candidate.model);
}

function whyOf(
  scored: readonly Scored[],
  { candidate, score: best }: Scored,
  single: CandidateRecord | null,
  pinned: boolean,
  { requested, order, strategy }: RouteInputs,
): Why {
  if (requested !== AUTO) return 'explicit';
  if (pinned) return 'session';
  if (scored.length === 1) return 'only_candidate';
  if (order.some((name) => isNamed(candidate, name))) return 'provider_order';
  if (strategy !== undefined && strategy.sort !== 'balanced') return 'strategy';
  const beaten = scored.some((one) => one.candidate !== candidate && one.score > best - MARGIN);
  return candidate === single && beaten ? 'low_margin' : 'best_score';
}

function byId(a: CandidateRecord, b: CandidateRecord): number {
  return a.model < b.model ? -1 : 1;
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
