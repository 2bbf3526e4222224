import type { CallCounting, CallSums } from '@tallystick/inference';
import { bandStarts, UNKNOWN_BAND } from '@tallystick/inference/rows';
import { type RawBuilder, sql } from 'kysely';
import { byDriver, type CallDriver, checks, type FilterValues, timeOf } from './call-filters.ts';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, type Statement, statement } from './statement.ts';

/** The values of the statements that read the roll-up. Times are Unix seconds. */
export interface RollUpValues extends Pick<FilterValues, 'owner' | 'model' | 'provider' | 'status' | 'key'> {
  /** Seconds. */
  readonly span: number;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The values of the statements that add up rows. Times and spans are milliseconds. */
export interface RowValues extends FilterValues {
  readonly span: number;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly by: CallCounting['by'];
}

/** The values of the statements that find how far back a number of rows reaches. Times are Unix milliseconds. */
export interface EdgeValues extends FilterValues {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Number of rows. */
  readonly rows: number;
}

/** Sums whose amounts are still text. */
export type ReadSums = Omit<CallSums, 'cost' | 'saving'> & { readonly cost: string; readonly saving: string };

/** The statements that count calls, which all databases share. */
export function callCountQueries(db: Compiler, dialect: Pick<Dialect, 'indexedBy'>) {
  return {
    rolledUpCalls: {
      none: rolledUp(db, sql`cast('' as text)`),
      model: rolledUp(db, sql`model`),
      provider: rolledUp(db, sql`provider`),
      status: rolledUp(db, sql`cast(status as text)`),
      key: rolledUp(db, sql`key`),
    },
    countedCalls: byDriver(dialect, (driver, { from, lookedUp }) =>
      statement((v: RowValues) =>
        raw(
          db,
          sql<ReadSums>`
            select calls.at - calls.at % ${v.span} as at, ${groupOf(v)} as by, ${BAND} as band,
              cast(count(*) as bigint) as calls, cast(count(error_code) as bigint) as errors,
              cast(coalesce(sum(prompt_tokens), 0) as bigint) as "promptTokens",
              cast(coalesce(sum(completion_tokens), 0) as bigint) as "completionTokens",
              cast(sum(cost) as text) as cost, cast(sum(saving) as text) as saving
            from ${from} and ${lookedUp(v)} and ${within(driver, v)} and ${sql.join(checks(driver, v), sql` and `)}
            group by 1, 2, 3`,
        ),
      ),
    ),
    edgesOfCalls: byDriver(dialect, (driver, { from, lookedUp }) =>
      statement((v: EdgeValues) =>
        raw(
          db,
          sql<{ at: number }>`
            select ${timeOf(driver)} as at from ${from} and ${lookedUp(v)} and ${within(driver, v)}
            order by ${timeOf(driver)} desc limit 1 offset ${v.rows}`,
        ),
      ),
    ),
  };
}

function rolledUp(db: Compiler, by: RawBuilder<unknown>): Statement<RollUpValues, ReadSums> {
  const when = (value: unknown, type: RawBuilder<unknown>, column: RawBuilder<unknown>) =>
    sql`(cast(${value} as ${type}) is null or ${column} = ${value})`;
  return statement((v: RollUpValues) =>
    raw(
      db,
      sql<ReadSums>`
        select at, ${by} as by, band, cast(sum(calls) as bigint) as calls, cast(sum(errors) as bigint) as errors,
          cast(sum(prompt_tokens) as bigint) as "promptTokens",
          cast(sum(completion_tokens) as bigint) as "completionTokens",
          cast(sum(cost) as text) as cost, cast(sum(saving) as text) as saving
        from call_counts
        where owner = ${v.owner} and span = ${v.span} and at >= ${v.from} and at < ${v.to}
          and ${when(v.model, sql`text`, sql`model`)} and ${when(v.provider, sql`text`, sql`provider`)}
          and ${when(v.status, sql`bigint`, sql`status`)} and ${when(v.key, sql`text`, sql`key`)}
        group by at, ${by}, band`,
    ),
  );
}

const within = (driver: CallDriver, v: { readonly from: number; readonly to: number }) =>
  sql`${timeOf(driver)} >= ${v.from} and ${timeOf(driver)} < ${v.to}`;

/** The name of a call's group, as the roll-up has it. */
const groupOf = (v: Pick<RowValues, 'by'>) => sql`
  coalesce(case cast(${v.by} as text)
    when 'model' then model when 'provider' then provider when 'status' then cast(status as text) when 'key' then key
  end, '')`;

/** The band of a call's latency, as `bandOf` has it: found by halves, since a call is in one of a hundred. */
const BAND = sql.raw(`case when total_ms is null then ${UNKNOWN_BAND} else ${bandWithin(bandStarts())} end`);

function bandWithin(starts: readonly (readonly [band: number, ms: number])[]): string {
  const middle = starts.length >> 1;
  const [band, ms] = starts[middle] ?? [0, 0];
  if (middle === 0) return String(band);
  return `case when total_ms < ${ms} then ${bandWithin(starts.slice(0, middle))} else ${bandWithin(starts.slice(middle))} end`;
}
