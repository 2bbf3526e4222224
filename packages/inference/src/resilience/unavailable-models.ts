import { TallyError } from '@tallystick/core';
import { Refusal } from '@tallystick/kit';
import type { Model } from '../catalogue/catalogue.ts';
import type { Health } from './health.ts';

/** The refusal of a call that names a model which its provider no longer has. */
function modelGone({ id, provider }: Pick<Model, 'id' | 'provider'>): TallyError {
  return new TallyError(
    'model_gone',
    `${id}: ${provider} no longer offers this model. Name another from /v1/compute/models, or auto.`,
    { field: 'model' },
  );
}

/**
 * The refusal of a call if each model that could serve it rests. `Retry-After` is the end of the first rest.
 * @param named whether the caller named the one model
 */
export function allResting(
  models: readonly Model[],
  health: Pick<Health, 'rest'>,
  named: boolean,
): TallyError {
  const rests = models.map((model) => health.rest(model));
  const [first] = models;
  if (named && first !== undefined && rests[0]?.gone === true) return modelGone(first);
  const soonest = Math.min(...rests.map((rest) => rest?.remainingMs ?? 0));
  const rest = models.length === 1 ? 'rests' : 'rest';
  return new Refusal(
    'no_model_available',
    `${models.map(({ id }) => id).join(', ')} ${rest} for now, after failures or by order of the operator. Try again after the time in Retry-After.`,
    { retryAfter: soonest / 1_000 },
  );
}
