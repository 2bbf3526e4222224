import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { callQueries } from '../src/call-queries.ts';
import type { Schema } from '../src/schema.ts';
import { openSqliteStore } from '../src/sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-plans-'));
afterAll(() => rmSync(folder, { recursive: true }));

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new SqliteIntrospector(one),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

const INDEXES = {
  time: 'calls_time (owner=? AND at>? AND at<?)',
  cost: 'calls_cost (owner=? AND cost>? AND cost<?)',
  costAlone: 'COVERING INDEX calls_cost (owner=? AND cost>? AND cost<?)',
  failed: 'calls_failed (owner=? AND at>? AND at<?)',
  tag: 'PRIMARY KEY (owner=? AND tag=? AND at>? AND at<?)',
  id: 'sqlite_autoindex_calls_1 (id=?)',
  requestHash: 'calls_request (owner=? AND request_hash=? AND at>? AND at<?)',
  session: 'calls_session (owner=? AND session=? AND at>? AND at<?)',
  errorCode: 'calls_error (owner=? AND error_code=? AND at>? AND at<?)',
  did: 'calls_did (owner=? AND did=? AND at>? AND at<?)',
  key: 'calls_key (owner=? AND key=? AND at>? AND at<?)',
  status: 'calls_status (owner=? AND status=? AND at>? AND at<?)',
  model: 'calls_model (owner=? AND model=? AND at>? AND at<?)',
  provider: 'calls_provider (owner=? AND provider=? AND at>? AND at<?)',
};

test('every filter is looked up in an index that begins with the owner, and no table is read through', async () => {
  const file = join(folder, 'plans.db');
  await (await openSqliteStore(file)).close();
  const connection = new DatabaseSync(file);
  const { pagesOfCalls, countedCalls, edgesOfCalls, rolledUpCalls, callsOfCost, callById, unlistedCalls } =
    callQueries(db, {
      now: sql<number>`unixepoch()`,
      indexedBy: (index) => sql`indexed by ${sql.ref(index)}`,
    });
  const planOf = ({ sql, parameters }: { sql: string; parameters: readonly string[] }): string[] =>
    connection
      .prepare(`explain query plan ${sql}`)
      .all(...parameters.map(() => null))
      .map((step) => String(step['detail']));
  for (const [driver, page] of Object.entries(pagesOfCalls)) {
    const plan = planOf(page);
    const first = plan.find((step) => step !== 'CO-ROUTINE places');
    expect(first, driver).toContain(INDEXES[driver as keyof typeof INDEXES]);
    expect(plan.filter((step) => /^SCAN (?!places$)/.test(step))).toEqual([]);
    // Only the rows of a rare cost are sorted.
    const sorts = plan.includes('USE TEMP B-TREE FOR ORDER BY');
    expect(sorts, driver).toBe(driver.startsWith('cost'));
  }
  for (const counts of [countedCalls, edgesOfCalls])
    for (const [driver, statement] of Object.entries(counts)) {
      const plan = planOf(statement);
      expect(plan[0], driver).toContain(INDEXES[driver as keyof typeof INDEXES].replace('COVERING ', ''));
      expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([]);
      // How far rows reach back is read from the index as it is ordered; only the rows of a rare cost are sorted.
      const sorts = plan.includes('USE TEMP B-TREE FOR ORDER BY');
      expect(sorts, driver).toBe(counts === edgesOfCalls && driver === 'cost');
    }
  for (const rolledUp of Object.values(rolledUpCalls))
    expect(planOf(rolledUp)[0]).toContain('PRIMARY KEY (owner=? AND span=? AND at>? AND at<?)');
  expect(planOf(callsOfCost).join()).toContain('calls_cost (owner=? AND cost>? AND cost<?)');
  for (const other of [callById, unlistedCalls])
    expect(planOf(other).filter((step) => step.startsWith('SCAN'))).toEqual([]);
  connection.close();
});
