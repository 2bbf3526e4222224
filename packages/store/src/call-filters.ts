import type { CallFilters } from '@tallystick/inference';
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';

/** Filters for equality, the most selective ones first, with their columns, types and indexes. */
const COLUMNS = [
  ['id', 'id', sql`text`, null],
  ['requestHash', 'request_hash', sql`text`, 'calls_request'],
  ['session', 'session', sql`text`, 'calls_session'],
  ['errorCode', 'error_code', sql`text`, 'calls_error'],
  ['did', 'did', sql`text`, 'calls_did'],
  ['key', 'key', sql`text`, 'calls_key'],
  ['status', 'status', sql`bigint`, 'calls_status'],
  ['model', 'model', sql`text`, 'calls_model'],
  ['provider', 'provider', sql`text`, 'calls_provider'],
] as const satisfies readonly (readonly [keyof CallFilters, string, RawBuilder<unknown>, string | null])[];

/** The condition that a query looks up in an index; all others are checked row by row. */
export type CallDriver = 'time' | 'cost' | 'tag' | 'failed' | (typeof COLUMNS)[number][0];

/** Whose calls are looked for, and by what. Switches are 1, 0, or null where they do not count. */
export interface FilterValues {
  readonly owner: string;
  readonly id: string | null;
  readonly requestHash: string | null;
  readonly session: string | null;
  readonly errorCode: string | null;
  readonly did: string | null;
  readonly key: string | null;
  readonly status: number | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly tag: string | null;
  readonly failed: number | null;
  readonly billed: number | null;
  readonly minCost: bigint | null;
  readonly maxCost: bigint | null;
}

/** How a driver looks calls up: what follows `from`, and the condition that its index answers. */
interface Source {
  readonly from: RawBuilder<unknown>;
  readonly lookedUp: (v: FilterValues) => RawBuilder<unknown>;
}

/** Which index serves a query. @param rare whether few calls have a cost in the range */
export function driverOf(filters: CallFilters, rare: boolean): CallDriver {
  const [column] = COLUMNS.find(([name]) => (filters[name] ?? null) !== null) ?? [];
  if (column === 'id' || column === 'requestHash' || column === 'session') return column;
  if ((filters.tag ?? null) !== null) return 'tag';
  if (column === 'errorCode') return column;
  if (filters.failed === true) return 'failed';
  if (rare) return 'cost';
  return column ?? 'time';
}

/** Whether a range of costs is the only filter. */
export function isCostAlone({ failed, billed, ...filters }: CallFilters): boolean {
  const others = [failed, billed, ...COLUMNS.map(([name]) => filters[name])];
  return others.every((value) => (value ?? null) === null);
}

export function filterValues(owner: string, filters: CallFilters): FilterValues {
  const { failed = null, billed = null } = filters;
  return {
    owner,
    id: filters.id ?? null,
    requestHash: filters.requestHash ?? null,
    session: filters.session ?? null,
    errorCode: filters.errorCode ?? null,
    did: filters.did ?? null,
    key: filters.key ?? null,
    status: filters.status ?? null,
    model: filters.model ?? null,
    provider: filters.provider ?? null,
    tag: filters.tag ?? null,
    failed: failed === null ? null : Number(failed),
    billed: billed === null ? null : Number(billed),
    minCost: filters.minCost ?? null,
    maxCost: filters.maxCost ?? null,
  };
}

/** One statement for each driver. */
export function byDriver<Made>(
  { indexedBy }: Pick<Dialect, 'indexedBy'>,
  make: (driver: CallDriver, source: Source) => Made,
): Readonly<Record<CallDriver, Made>> {
  const own = (v: FilterValues) => sql`calls.owner = ${v.owner}`;
  const by = (index: string) => sql`calls ${indexedBy(index)} where true`;
  const columns = COLUMNS.map(([name, column, , index]) => {
    const from = index === null ? sql`calls where true` : by(index);
    const lookedUp = (v: FilterValues) => sql`${own(v)} and ${sql.ref(`calls.${column}`)} = ${v[name]}`;
    return [name, make(name, { from, lookedUp })] as const;
  });
  return {
    time: make('time', { from: by('calls_time'), lookedUp: own }),
    cost: make('cost', {
      from: by('calls_cost'),
      lookedUp: (v) => sql`${own(v)} and ${costBetween(v)}`,
    }),
    failed: make('failed', {
      from: by('calls_failed'),
      lookedUp: (v) => sql`${own(v)} and coalesce(error_code, '') <> ''`,
    }),
    tag: make('tag', {
      from: sql`call_tags join calls on calls.id = call_tags.id where true`,
      lookedUp: (v) => sql`call_tags.owner = ${v.owner} and call_tags.tag = ${v.tag} and ${own(v)}`,
    }),
    ...(Object.fromEntries(columns) as Record<(typeof COLUMNS)[number][0], Made>),
  };
}

/** The time by which a driver's index is ordered, in Unix milliseconds. */
export const timeOf = (driver: CallDriver) => {
  // Adding 0 keeps a database from taking another index than the driver's.
  if (driver === 'cost') return sql`calls.at + 0`;
  return driver === 'tag' ? sql`call_tags.at` : sql`calls.at`;
};

/** The filters that the index does not look up. */
export function checks(driver: CallDriver, v: FilterValues): RawBuilder<unknown>[] {
  const when = (value: unknown, type: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
    sql`(cast(${value} as ${type}) is null or ${condition})`;
  // Written so that PostgreSQL, which knows the values when it plans, is left with the condition and its statistics.
  const flag = (value: unknown, column: RawBuilder<unknown>) => {
    const is = (one: number) => sql`cast(${value} as bigint) = ${sql.lit(one)}`;
    return when(
      value,
      sql`bigint`,
      sql`(${is(1)} and ${column} is not null) or (${is(0)} and ${column} is null)`,
    );
  };
  // As an index's condition, which only the index of times has, it spares reading the rows that cost something else.
  const cost = driver === 'time' ? sql`cost` : sql`cost + 0`;
  return [
    ...COLUMNS.filter(([name]) => name !== driver).map(([name, column, type]) =>
      when(v[name], type, sql`${sql.ref(`calls.${column}`)} = ${v[name]}`),
    ),
    ...(driver === 'failed' ? [] : [flag(v.failed, sql`error_code`)]),
    flag(v.billed, sql`receipt_id`),
    ...(driver === 'cost'
      ? []
      : [
          when(v.minCost, sql`bigint`, sql`${cost} >= ${v.minCost}`),
          when(v.maxCost, sql`bigint`, sql`${cost} <= ${v.maxCost}`),
        ]),
    ...(driver === 'tag'
      ? []
      : [
          when(
            v.tag,
            sql`text`,
            sql`exists (
              select 1 from call_tags
              where call_tags.owner = calls.owner and call_tags.tag = ${v.tag}
                and call_tags.at = calls.at and call_tags.id = calls.id)`,
          ),
        ]),
  ];
}

export function costBetween(v: Pick<FilterValues, 'minCost' | 'maxCost'>): RawBuilder<unknown> {
  const most = sql`coalesce(cast(${v.maxCost} as bigint), 9223372036854775807)`;
  return sql`cost >= coalesce(cast(${v.minCost} as bigint), 0) and cost <= ${most}`;
}
