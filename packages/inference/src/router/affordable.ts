import type { Model } from '../catalogue/catalogue.ts';
import { decide } from './decide.ts';
import type { RouteExplanation } from './record.ts';
import type { RouteDecision } from './router.ts';

/**
 * Limits the decision to the models that the caller's balance covers; the explanation names the others.
 * @param affordable some of the decision's models, in its order, at least one
 */
export function limitedTo(decision: RouteDecision, affordable: readonly Model[]): RouteDecision {
  const { model, fallbacks, explanation } = decision;
  const [first, ...rest] = affordable;
  if (first === undefined) throw new RangeError('A call that the balance does not cover must be refused.');
  const unaffordable = [model, ...fallbacks].filter((one) => !affordable.includes(one)).map(({ id }) => id);
  if (unaffordable.length === 0) return decision;
  const { version, inputs } = explanation;
  const limited = { ...inputs, unaffordable };
  const explained: RouteExplanation = { version, inputs: limited, outcome: decide(limited) };
  return { model: first, fallbacks: rest, explanation: explained };
}
