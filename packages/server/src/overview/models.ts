import { isObject, parseJson, readStatus, type StatusModel, utf8 } from '@tallystick/core';
import {
  type Compute,
  type Model,
  ORDERS,
  type PipelineContext,
  priceAgeDays,
  retiresInDays,
  type ToldRest,
  targetOf,
  upkeepOf,
} from '@tallystick/inference';
import type { Store } from '@tallystick/store';
import { type FoundLight, findModels } from '../status/models.ts';
import { STATUS_DOCUMENT } from '../status/status.ts';

type Models = Pick<PipelineContext, 'catalogue' | 'health' | 'upkeep'>;

/** Until when a model or provider is not called, and whether calls or the operator decided so. */
type RestDocument = { readonly until: string; readonly by: 'operator' | 'failures' };

export interface ModelsDocument {
  readonly providers: readonly ProviderDocument[];
  readonly models: readonly ModelDocument[];
  readonly catalogue: CatalogueDocument;
}

type ProviderDocument = ReturnType<typeof providerOf>;
type ModelDocument = ReturnType<typeof modelOf>;
type CatalogueDocument = ReturnType<typeof catalogueOf>;

/** What is known of providers, models and their prices. @param now Unix milliseconds */
export async function modelsDocument(
  { pipeline, learned }: Pick<Compute, 'pipeline' | 'learned'>,
  store: Pick<Store, 'rests' | 'getDocument'>,
  now: number,
): Promise<ModelsDocument> {
  const [ordered, since] = await Promise.all([store.rests.ordered(), sinceOf(store)]);
  const orders = new Map(ordered.map((order) => [order.model, order]));
  const found = findModels(pipeline);
  const lights = new Map(found.models.map((light) => [light.id, light]));
  const models = pipeline.catalogue.models.map((model) =>
    modelOf(model, {
      pipeline,
      firstByteMs: learned().firstTokenMs(model.id, null),
      light: lights.get(model.id) ?? { id: model.id, state: 'unknown', code: 'not_called' },
      since: since('models', lights.get(model.id)),
      rest: restOf(model, pipeline, orders.get(targetOf(model)), now),
    }),
  );
  return {
    providers: found.providers.map((light) =>
      providerOf(
        light,
        since('providers', light),
        models.filter(({ provider }) => provider === light.id),
      ),
    ),
    models,
    catalogue: catalogueOf(pipeline, now),
  };
}

/** What the operator has just ordered is shown before this process has heard of it. */
function restOf(
  model: Model,
  { health }: Models,
  order: ToldRest | undefined,
  now: number,
): RestDocument | null {
  if (order?.why === ORDERS.resume) return null;
  const own = health.rest(model)?.remainingMs ?? 0;
  const told = order?.remainingMs ?? 0;
  const remaining = Math.max(own, told);
  if (remaining <= 0) return null;
  const until = new Date(now + remaining).toISOString();
  return { until, by: order === undefined ? 'failures' : 'operator' };
}

interface ModelFacts {
  readonly pipeline: Models;
  readonly firstByteMs: number | null;
  readonly light: FoundLight;
  readonly since: string | null;
  readonly rest: RestDocument | null;
}

function modelOf(model: Model, { pipeline, firstByteMs, light, since, rest }: ModelFacts) {
  const { id, provider, kind } = model;
  const { answered, failed } = pipeline.health.recent(model);
  return {
    id,
    provider,
    kind,
    state: light.state,
    code: light.code,
    warning: light.warning ?? null,
    since,
    rest,
    calls: answered + failed,
    failed,
    error_rate: shareOf(failed, answered + failed),
    first_byte_ms: firstByteMs,
  };
}

function providerOf({ id, state, code }: FoundLight, since: string | null, models: readonly ModelDocument[]) {
  const calls = sum(models, (model) => model.calls);
  const failed = sum(models, (model) => model.failed);
  const timed = models.filter((model) => model.first_byte_ms !== null && model.calls > 0);
  const weight = sum(timed, (model) => model.calls);
  const resting = models.filter(({ rest }) => rest !== null);
  const last = resting.toSorted((one, other) =>
    (one.rest?.until ?? '').localeCompare(other.rest?.until ?? ''),
  );
  return {
    id,
    state,
    code,
    since,
    models: models.length,
    resting: resting.length,
    rest: last.length === models.length ? (last.at(-1)?.rest ?? null) : null,
    calls,
    failed,
    error_rate: shareOf(failed, calls),
    first_byte_ms:
      weight === 0
        ? null
        : Math.round(sum(timed, (model) => (model.first_byte_ms ?? 0) * model.calls) / weight),
  };
}

function catalogueOf({ catalogue, upkeep }: Models, now: number) {
  const { models } = catalogue;
  const aged = models.flatMap((model) => {
    const days = priceAgeDays(model, now);
    return days === null ? [] : { model: model.id, read_on: model.price.source?.readOn ?? '', days };
  });
  const terms = upkeep();
  return {
    models: models.length,
    providers: new Set(models.map(({ provider }) => provider)).size,
    oldest_price: aged.toSorted((one, other) => other.days - one.days)[0] ?? null,
    retiring: models.flatMap((model) => {
      const days = retiresInDays(model, now);
      const { id, retiresOn = '', successors = [] } = model;
      return days === null ? [] : { model: id, retires_on: retiresOn, days, successors: [...successors] };
    }),
    warnings: models.flatMap((model) => {
      const code = upkeepOf(model, terms);
      return code === null ? [] : { model: model.id, code };
    }),
  };
}

/** Since when each state holds, as the newest status says; null where the state has changed after it. */
async function sinceOf(
  store: Pick<Store, 'getDocument'>,
): Promise<(kind: 'models' | 'providers', light: FoundLight | undefined) => string | null> {
  const row = await store.getDocument(STATUS_DOCUMENT);
  const document = row === null ? null : parseJson(utf8(row.body));
  const report = isObject(document) ? readStatus(document) : null;
  const known = (lights: readonly StatusModel[] = []): Map<string, StatusModel> =>
    new Map(lights.map((light) => [light.id, light]));
  const found = { models: known(report?.models), providers: known(report?.providers) };
  return (kind, light) => {
    const before = light && found[kind].get(light.id);
    return before !== undefined && before.state === light?.state ? before.since : null;
  };
}

const sum = <T>(rows: readonly T[], of: (row: T) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
