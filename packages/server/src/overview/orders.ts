import { TallyError } from '@tallystick/core';
import { type Model, ORDERS, targetOf } from '@tallystick/inference';
import type { Services } from '../services.ts';

/** Whom an order is for. */
export type Target = { readonly kind: 'provider' | 'model'; readonly id: string };

/**
 * Milliseconds for which an order to resume is told to the processes, which ask once a second. Until then, none believes
 * another that the model rests.
 */
const RESUME_MS = 10_000;

type OrderServices = Pick<Services, 'clock' | 'compute' | 'logger' | 'store'>;

interface Order {
  readonly target: Target;
  /** Public name of the operator's key. */
  readonly by: string;
}

/**
 * Gives the models of a provider, or one model, a rest in every process. It is written to the log.
 * @throws not_found, model_not_found
 */
export async function rest(
  { clock, compute, logger, store }: OrderServices,
  { target, by, seconds }: Order & { readonly seconds: number },
): Promise<{ models: string[]; until: string }> {
  const models = modelsOf(compute.pipeline.catalogue.models, target);
  await store.rests.order(
    models.map((model) => ({ model: targetOf(model), why: ORDERS.rest, remainingMs: seconds * 1_000 })),
  );
  const ids = models.map(({ id }) => id);
  logger.warn(
    { operator: by, [target.kind]: target.id, models: ids, seconds },
    'an operator gave models a rest',
  );
  return { models: ids, until: new Date(clock() + seconds * 1_000).toISOString() };
}

/**
 * Ends the rests of the models of a provider, or of one model, in every process: those that the operator gave, and those
 * that followed from failures. It is written to the log.
 * @throws not_found, model_not_found
 */
export async function resume(
  { compute, logger, store }: OrderServices,
  { target, by }: Order,
): Promise<{ models: string[] }> {
  const models = modelsOf(compute.pipeline.catalogue.models, target);
  await store.rests.order(
    models.map((model) => ({ model: targetOf(model), why: ORDERS.resume, remainingMs: RESUME_MS })),
  );
  const ids = models.map(({ id }) => id);
  logger.warn({ operator: by, [target.kind]: target.id, models: ids }, 'an operator resumed models');
  return { models: ids };
}

function modelsOf(models: readonly Model[], { kind, id }: Target): readonly Model[] {
  const found = models.filter((model) => (kind === 'provider' ? model.provider : model.id) === id);
  if (found.length > 0) return found;
  if (kind === 'provider')
    throw new TallyError('not_found', `No provider has the name ${id}.`, { field: 'id' });
  throw new TallyError('model_not_found', `No model has the id ${id}. See /v1/compute/models.`, {
    field: 'id',
  });
}
