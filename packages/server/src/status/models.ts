import type { StatusModel } from '@tallystick/core';
import type { Health, Model } from '@tallystick/inference';
import { type Light, lightOfAll } from '@tallystick/inference';
import type { Trouble } from './trouble.ts';

/** A model or provider as it is found. */
export type FoundLight = Light & Pick<StatusModel, 'id'>;

/** What a round finds of the models. */
export interface FoundModels {
  readonly models: readonly FoundLight[];
  readonly providers: readonly FoundLight[];
  /** The trouble that `compute_chat` is in; null where chat is up. */
  readonly chat: Trouble | null;
}

/** How the models of a catalogue do, by the calls of this process. */
export function findModels(models: readonly Model[], health: Pick<Health, 'light'>): FoundModels {
  const found = models.map((model) => ({ model, light: health.light(model) }));
  const lightsOf = (wanted: (model: Model) => boolean): Light[] =>
    found.filter(({ model }) => wanted(model)).map(({ light }) => light);
  const providers = [...new Set(models.map(({ provider }) => provider))].map((id) => ({
    id,
    ...lightOfAll(lightsOf(({ provider }) => provider === id)),
  }));
  const routable = routableModels(models);
  return {
    models: found.map(({ model, light }) => ({ id: model.id, ...light })),
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

/** Chat is up where a model answers and no provider is down: calls of its models by their names fail. */
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
