import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import type { ListedModel } from './price-lists.ts';

/** What the import of a list would do to one model. */
export interface Change {
  readonly id: string;
  /** `confirmed`: the prices are the same, and read on a later day. */
  readonly kind: 'added' | 'changed' | 'confirmed';
  /** Members of the model's entry in the configuration file that are written. */
  readonly members: JsonObject;
  readonly differences: readonly Difference[];
}

interface Difference {
  readonly member: string;
  /** Null where there was none. */
  readonly before: string | null;
  readonly after: string;
}

interface Selection {
  /** Patterns of models to add: an id, or the beginning of one with `*`. */
  readonly add: readonly string[];
  /** Models that are past their date on this day are not added. */
  readonly today: string;
}

/** Expected share of right answers of a model that nobody has graded here: chance alone would give 0.25 of four choices. */
const UNKNOWN_PRIOR = { general: 0.5 };

/** The models of the catalogue whose entries the list would change, and those that are to be added, by id. */
export function changesOf(
  known: ReadonlyMap<string, JsonObject>,
  listed: readonly ListedModel[],
  { add, today }: Selection,
): Change[] {
  const wanted = (id: string): boolean =>
    add.some((pattern) => (pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern));
  const found = new Map<string, Change>();
  for (const model of listed) {
    const entry = known.get(model.id);
    const isOver = model.retires_at !== undefined && model.retires_at <= today;
    const change =
      entry === undefined ? (wanted(model.id) && !isOver ? added(model) : null) : changed(entry, model);
    if (change !== null) found.set(model.id, change);
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function added({ id, ...members }: ListedModel): Change {
  const { price, context, max_output } = members;
  const differences = [
    ...pricesOf(price).map(([member, after]) => ({ member, before: null, after })),
    { member: 'context', before: null, after: String(context) },
    { member: 'max_output', before: null, after: String(max_output) },
  ];
  return {
    id,
    kind: 'added',
    members: { ...members, prior: UNKNOWN_PRIOR } as unknown as JsonObject,
    differences,
  };
}

/** Only prices and dates are taken: what the operator says of a model’s abilities stays. */
function changed(entry: JsonObject, { id, price, retires_at }: ListedModel): Change | null {
  const before = new Map(pricesOf(entry['price'] as JsonObject | undefined));
  const after = new Map(pricesOf(price));
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .map((member) => ({ member, before: before.get(member) ?? null, after: after.get(member) ?? 'none' }))
    .filter((one) => one.before !== one.after);
  const end = entry['retires_at'];
  if (retires_at !== undefined && end !== retires_at)
    differences.push({
      member: 'retires_at',
      before: typeof end === 'string' ? end : null,
      after: retires_at,
    });
  const members = { price, ...(retires_at !== undefined && { retires_at }) };
  if (differences.length > 0) return { id, kind: 'changed', members, differences };
  return readOn(price) > readOn(entry['price'] as JsonObject)
    ? { id, kind: 'confirmed', members, differences }
    : null;
}

/** The prices of an entry by the names of their members, those of tariffs with their conditions. */
function pricesOf(price: JsonObject | undefined): [string, string][] {
  const { source: _source, tariffs, ...base } = price ?? {};
  const lines = (prices: JsonObject, where: string): [string, string][] =>
    Object.entries(prices).map(([member, amount]) => [`${where}${member}`, textOf(amount)]);
  const others = Array.isArray(tariffs) ? tariffs.filter(isObject) : [];
  return [
    ...lines(base, ''),
    ...others.flatMap(({ above_tokens: above, service_tier: tier, ...prices }) =>
      lines(
        prices,
        `${tier === undefined ? '' : `${textOf(tier)} `}${above === undefined ? '' : `above ${textOf(above)} `}`,
      ),
    ),
  ];
}

function readOn(price: JsonObject | undefined): string {
  const { source = null } = price ?? {};
  return isObject(source) ? textOf(source['read_on'] ?? '') : '';
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));
