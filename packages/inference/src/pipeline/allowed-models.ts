import { type Limits, limitsFrom, type Spender } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import { type NanoUsdc, parseUsdc } from '@tallystick/ledger';
import type { Catalogue, Model } from '../catalogue/catalogue.ts';
import { AUTO } from '../router/auto.ts';
import { isNamed } from '../router/filters.ts';
import type { ProviderPreferences } from '../router/router.ts';

interface Restricted {
  readonly model: string;
  readonly preferences: ProviderPreferences;
}

/**
 * A request whose preferences name only models that the limits of its spenders allow; the same one if they allow all.
 * @throws model_not_allowed for a named model that is not allowed, or where none is left
 */
export function withinLimits<Request extends Restricted>(
  request: Request,
  spenders: readonly Pick<Spender, 'limits'>[],
  catalogue: Catalogue,
): Request {
  const limits = spenders.map((one) => limitsFrom(one.limits)).filter(restricts);
  if (limits.length === 0) return request;
  const { model: requested, preferences } = request;
  const named = requested === AUTO ? null : catalogue.find(requested);
  const allowed = catalogue.models.filter((model) => limits.every((one) => allows(one, model, catalogue)));
  if (named !== null && !allowed.includes(named)) throw notAllowed(`the model ${named.id}`);
  const only = allowed.filter((model) => isWanted(model, preferences, limits)).map(({ id }) => id);
  if (named === null && only.length === 0) throw notAllowed('any model that the request accepts');
  return {
    ...request,
    preferences: {
      ...preferences,
      only: named === null ? only : [named.id],
      ...maxPriceOf(preferences, limits),
    },
  };
}

function restricts({ models, providers, max_price: price }: Limits): boolean {
  return [models, providers, price].some((one) => one !== undefined && one !== null);
}

function allows(
  { models, providers, max_price: price }: Limits,
  model: Model,
  catalogue: Catalogue,
): boolean {
  const names = models?.map((name) => catalogue.find(name)?.id ?? name);
  return (
    (names?.includes(model.id) ?? true) &&
    (providers?.includes(model.provider) ?? true) &&
    (capOf(price?.prompt) ?? model.price.inputPerMTok) >= model.price.inputPerMTok &&
    (capOf(price?.completion) ?? model.price.outputPerMTok) >= model.price.outputPerMTok
  );
}

/** Whether the caller's own list has the model. A built-in one is chosen only where somebody names it. */
function isWanted(model: Model, { only }: ProviderPreferences, limits: readonly Limits[]): boolean {
  const candidate = { model: model.id, provider: model.provider };
  if (only !== undefined) return only.some((name) => isNamed(candidate, name));
  const named = limits.flatMap(({ models, providers }) => [...(models ?? []), ...(providers ?? [])]);
  return !model.builtIn || named.some((name) => isNamed(candidate, name));
}

function maxPriceOf(
  { maxPrice }: ProviderPreferences,
  limits: readonly Limits[],
): Pick<ProviderPreferences, 'maxPrice'> {
  const caps = [maxPrice?.request, ...limits.map(({ max_price: price }) => capOf(price?.request))];
  const request = caps.reduce((least, cap) => (least === undefined || (cap ?? least) < least ? cap : least));
  return request === undefined ? {} : { maxPrice: { ...maxPrice, request } };
}

function capOf(text: string | null | undefined): NanoUsdc | undefined {
  return text === null || text === undefined ? undefined : parseUsdc(text);
}

function notAllowed(what: string): TallyError {
  return new TallyError(
    'model_not_allowed',
    `model: the limits of the API key, or of the account, do not allow ${what}. GET /v1/keys shows them to whoever manages the keys.`,
    { field: 'model' },
  );
}
