import type { StatusModel } from '@tallystick/core';
import type { Health, Model } from '@tallystick/inference';
import { type Light, lightOfAll } from '@tallystick/inference';
import type { Trouble } from './trouble.ts';

/** The state of a model or provider. */
export type FoundLight = Light & Pick<StatusModel, 'id'>;

/** The states of models and providers in a round. */
export interface FoundModels {
  readonly models: readonly FoundLight[];
  readonly providers: readonly FoundLight[];
  /** What is wrong with `compute_chat`; null where chat is up. */
  readonly chat: Trouble | null;
}

/** The states of a catalogue's models, by the calls of this process. */
export function findModels(models: readonly Model[], health: Pick<Health, 'light'>): FoundModels {
  const found = models.map((model) => ({ model, light: health.light(model) }));
  const lightsOf = (isSelected: (model: Model) => boolean): Light[] =>
    found.filter(({ model }) => isSelected(model)).map(({ light }) => light);
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
