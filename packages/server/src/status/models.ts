import type { StatusModel } from '@tallystick/core';
import type { Health, Model } from '@tallystick/inference';
import {
  type Light,
  lightOfAll,
  ORDERS,
  type PipelineContext,
  type Upkeep,
  upkeepOf,
} from '@tallystick/inference';
import type { Trouble } from './trouble.ts';

/** The state of a model or provider. */
export type FoundLight = Light & Pick<StatusModel, 'id' | 'warning'>;

type StatusContext = Pick<PipelineContext, 'catalogue' | 'upkeep'> & {
  readonly health: Pick<Health, 'light'>;
};

/** Codes of models that are not called, whatever their last calls showed. They say nothing about their providers. */
const OVER = new Map<Upkeep | null, string>([
  ['retired', 'model_gone'],
  ['price_outdated', 'price_outdated'],
]);
const WARNINGS = new Map<Upkeep | null, string>([
  ['retires_soon', 'retires_soon'],
  ['price_old', 'price_old'],
]);

/** The states of models and providers in a round. */
export interface FoundModels {
  readonly models: readonly FoundLight[];
  readonly providers: readonly FoundLight[];
  /** What is wrong with `compute_chat`; null where chat is up. */
  readonly chat: Trouble | null;
}

/** The states of a catalogue's models, by the calls of all processes and by their dates. */
export function findModels({ catalogue, health, upkeep }: StatusContext): FoundModels {
  const { models } = catalogue;
  const terms = upkeep();
  const found = models.map((model) => {
    const state = upkeepOf(model, terms);
    return { model, light: health.light(model), over: OVER.get(state), warning: WARNINGS.get(state) };
  });
  // A model that the operator gives a rest says nothing about its provider either, unless all of them rest.
  const lightsOf = (isSelected: (model: Model) => boolean): Light[] => {
    const offered = found.filter(({ model, over }) => over === undefined && isSelected(model));
    const lights = offered.map(({ light }) => light);
    const called = lights.filter(({ code }) => code !== ORDERS.rest);
    return called.length === 0 ? lights : called;
  };
  const providers = [...new Set(models.map(({ provider }) => provider))].map((id) => ({
    id,
    ...lightOfAll(lightsOf(({ provider }) => provider === id)),
  }));
  const routable = routableModels(models);
  return {
    models: found.map(({ model, light, over, warning }) => ({
      id: model.id,
      ...(over === undefined ? light : { state: 'down', code: over }),
      ...(warning !== undefined && { warning }),
    })),
    providers,
    chat: chatTrouble(
      lightsOf((model) => routable.includes(model)),
      providers.filter(({ id }) => routable.some(({ provider }) => provider === id)),
    ),
  };
}

/** The chat models that `auto` chooses among: a built-in one only where there is no other. */
export function routableModels(models: readonly Model[]): readonly Model[] {
  const chat = models.filter(({ kind }) => kind === 'chat');
  const others = chat.filter(({ builtIn }) => !builtIn);
  return others.length > 0 ? others : chat;
}

/** Chat is degraded if a provider is down, since calls that name its models fail; it is up only if a model answers. */
function chatTrouble(models: readonly Light[], providers: readonly Light[]): Trouble | null {
  const states = new Set(models.map(({ state }) => state));
  if (states.has('up') || states.has('degraded')) {
    if (providers.some(({ state }) => state === 'down')) return { state: 'degraded', code: 'provider_down' };
    return states.has('up') ? null : { state: 'degraded', code: 'failing' };
  }
  return states.has('down')
    ? { state: 'down', code: 'no_model_answers' }
    : { state: 'unknown', code: 'not_called' };
}
