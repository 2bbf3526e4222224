import { setImmediate } from 'node:timers/promises';
import type { CallCounting, CallCounts, CallFilters, CallSums } from '@tallystick/inference';
import type { ReadSums } from './call-count-queries.ts';
import { driverOf, filterValues } from './call-filters.ts';
import { all } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Rows that a statement adds up, so that other work of the process goes on in between. */
const SLICE = 2_000;
/** Rows that are looked at for one question. */
const MOST_ROWS = 200_000;

type Database = Pick<SqlDatabase, 'queries' | 'read'>;

/** As `CallStore.counts`. @param isRare asked whether few calls have a cost in the range, if rows are read */
export async function countCalls(
  database: Database,
  counting: CallCounting,
  isRare: () => Promise<boolean>,
): Promise<CallCounts> {
  if (isInRollUp(counting)) return { sums: sorted(await rolledUp(database, counting)), countedFrom: null };
  const { failed, ...others } = counting;
  if (failed !== false || !isInRollUp(others)) return ofRows(database, counting, await isRare());
  // The roll-up does not tell calls that went well from the others, and the others are few. They are read first: one that
  // is listed meanwhile is missing from them, and so is never taken away without having been counted.
  const { sums, countedFrom } = await ofRows(database, { ...others, failed: true }, false);
  const { span } = counting;
  const from = countedFrom === null ? counting.from : Math.ceil(countedFrom / 1_000 / span) * span;
  const added = new Added(await rolledUp(database, { ...others, from }));
  for (const one of sums) if (one.at >= from) added.add(one, -1);
  return { sums: sorted(added.all()), countedFrom: countedFrom === null ? null : from * 1_000 };
}

/** Whether the roll-up has every property that is asked for. */
function isInRollUp(filters: CallFilters): boolean {
  const { id, did, failed, errorCode, minCost, maxCost, tag, session, requestHash, billed } = filters;
  const unknown = [id, did, failed, errorCode, minCost, maxCost, tag, session, requestHash, billed];
  return unknown.every((value) => (value ?? null) === null);
}

async function rolledUp({ queries, read }: Database, counting: CallCounting): Promise<CallSums[]> {
  const { owner, span, from, to, by, model = null, provider = null, status = null, key = null } = counting;
  const values = { owner, span, from, to, model, provider, status, key };
  return (await read(all(queries.rolledUpCalls[by], values))).map(sumsFrom);
}

/** Adds up rows, the newest first, some at a time. */
async function ofRows(
  { queries, read }: Database,
  { owner, span, from, to, by, ...filters }: CallCounting,
  rare: boolean,
): Promise<CallCounts> {
  const driver = driverOf(filters, rare);
  const values = { ...filterValues(owner, filters), span: span * 1_000, by, rows: SLICE };
  const added = new Added([]);
  const first = from * 1_000;
  // A bucket that has begun is counted whole, as the roll-up has it.
  let end = Math.ceil(to / span) * span * 1_000;
  for (let looked = 0; end > first; looked += SLICE) {
    if (looked >= MOST_ROWS) return { sums: sorted(added.all()), countedFrom: end };
    const [edge] = await read(all(queries.edgesOfCalls[driver], { ...values, from: first, to: end }));
    // Calls of one millisecond are added up together.
    const begin = edge === undefined ? first : Math.min(edge.at + 1, end - 1);
    const rows = await read(all(queries.countedCalls[driver], { ...values, from: begin, to: end }));
    for (const row of rows) added.add(sumsFrom({ ...row, at: row.at / 1_000 }));
    end = begin;
    await setImmediate();
  }
  return { sums: sorted(added.all()), countedFrom: null };
}

function sumsFrom({ cost, saving, ...row }: ReadSums): CallSums {
  return { ...row, cost: BigInt(cost), saving: BigInt(saving) };
}

/** Sums of which those of one bucket, group and band are put together. */
class Added {
  readonly #sums = new Map<string, CallSums>();

  constructor(sums: readonly CallSums[]) {
    for (const one of sums) this.add(one);
  }

  /** @param sign -1 takes away */
  add(one: CallSums, sign: 1 | -1 = 1): void {
    const { at, by, band } = one;
    const name = JSON.stringify([at, by, band]);
    const held = this.#sums.get(name) ?? NOTHING;
    this.#sums.set(name, {
      at,
      by,
      band,
      calls: held.calls + sign * one.calls,
      errors: held.errors + sign * one.errors,
      promptTokens: held.promptTokens + sign * one.promptTokens,
      completionTokens: held.completionTokens + sign * one.completionTokens,
      cost: held.cost + BigInt(sign) * one.cost,
      saving: held.saving + BigInt(sign) * one.saving,
    });
  }

  all(): CallSums[] {
    return [...this.#sums.values()].filter(({ calls }) => calls > 0);
  }
}

const NOTHING = { calls: 0, errors: 0, promptTokens: 0, completionTokens: 0, cost: 0n, saving: 0n };

/** The newest buckets first, and in a bucket by the names of groups. */
function sorted(sums: readonly CallSums[]): CallSums[] {
  const byName = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
  return sums.toSorted(
    (one, other) => other.at - one.at || byName(one.by, other.by) || one.band - other.band,
  );
}
