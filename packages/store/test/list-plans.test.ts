import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { Dialect } from '../src/dialect.ts';
import { ledgerQueries } from '../src/ledger-queries.ts';
import { logQueries } from '../src/log-queries.ts';
import { operatorQueries } from '../src/operator-queries.ts';
import { receiptListQueries } from '../src/receipt-list-queries.ts';
import type { Schema } from '../src/schema.ts';
import { sessionListQueries } from '../src/session-list-queries.ts';
import { openSqliteStore } from '../src/sqlite.ts';
import { treasuryQueries } from '../src/treasury-queries.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-lists-'));
afterAll(() => rmSync(folder, { recursive: true }));

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new SqliteIntrospector(one),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

const INDEXES: Readonly<Record<string, string>> = {
  time: 'receipt_list_time (owner=? AND at>? AND at<?)',
  id: 'sqlite_autoindex_receipt_list_1 (id=?)',
  requestHash: 'receipt_list_request (owner=? AND request_hash=? AND at>? AND at<?)',
  session: 'receipt_list_session (owner=? AND session=? AND at>? AND at<?)',
  did: 'receipt_list_did (owner=? AND <expr>=? AND at>? AND at<?)',
  key: 'receipt_list_key (owner=? AND key=? AND at>? AND at<?)',
  model: 'receipt_list_model (owner=? AND <expr>=? AND at>? AND at<?)',
  purpose: 'receipt_list_purpose (owner=? AND <expr>=? AND at>? AND at<?)',
  profile: 'receipt_list_profile (owner=? AND profile=? AND at>? AND at<?)',
  provider: 'receipt_list_provider (owner=? AND <expr>=? AND at>? AND at<?)',
  status: 'receipt_list_status (owner=? AND status=? AND at>? AND at<?)',
  tag: 'call_tags USING PRIMARY KEY (owner=? AND tag=? AND at>? AND at<?)',
  cost: 'receipt_list_cost (owner=? AND cost>? AND cost<?)',
  costAlone: 'COVERING INDEX receipt_list_cost (owner=? AND cost>? AND cost<?)',
};

test('every list is read from an index that begins with its owner, in order, and no table is read through', async () => {
  const file = join(folder, 'plans.db');
  await (await openSqliteStore(file)).close();
  const connection = new DatabaseSync(file);
  const planOf = (statement: { sql: string; parameters: readonly string[] }): string[] => {
    const steps = connection
      .prepare(`explain query plan ${statement.sql}`)
      .all(...statement.parameters.map(() => null));
    return steps.map((step) => String(step['detail']));
  };
  const dialect = {
    forUpdate: sql``,
    now: sql`0`,
    indexedBy: (index: string) => sql`indexed by ${sql.ref(index)}`,
  } as unknown as Dialect;
  const { pagesOfReceipts, countsOfReceipts, keptCountsOfReceipts, receiptsOfCost, scanReceipts } =
    receiptListQueries(db, dialect);
  for (const [driver, statement] of Object.entries(countsOfReceipts))
    expect(planOf(statement)[0], driver).toContain(INDEXES[driver]);
  for (const [driver, statement] of Object.entries(pagesOfReceipts)) {
    const plan = planOf(statement);
    expect(plan.find((step) => step !== 'CO-ROUTINE places')).toContain(INDEXES[driver]);
    expect(plan.filter((step) => /^SCAN (?!places$)/.test(step))).toEqual([]);
    // Only the rows of a rare cost are sorted.
    expect(plan.includes('USE TEMP B-TREE FOR ORDER BY'), driver).toBe(driver.startsWith('cost'));
  }
  expect(planOf(receiptsOfCost).join()).toContain(INDEXES['cost']);
  const counted = planOf(keptCountsOfReceipts).join();
  expect(counted).toContain('receipt_counts USING PRIMARY KEY (owner=? AND span=? AND at>? AND at<?)');
  expect(counted).toContain('receipt_list_expiry (expires_at<?)');
  const { pageOfLeaves, pageOfAnchors, countOfAnchors, postingsBefore } = logQueries(db, dialect);
  const anchors = 'anchor_list USING PRIMARY KEY (owner=? AND idx>? AND idx<?)';
  for (const statement of [pageOfAnchors, countOfAnchors]) expect(planOf(statement)[0]).toContain(anchors);
  expect(planOf(postingsBefore.state)[0]).toContain('postings_state (state=? AND sequence<?)');
  for (const statement of [pageOfLeaves, pageOfAnchors, ...Object.values(postingsBefore)]) {
    const plan = planOf(statement);
    expect(plan.filter((step) => /^SCAN|TEMP B-TREE/.test(step))).toEqual([]);
  }
  const { pageOfSessions, purgeSessionList } = sessionListQueries(db);
  expect(planOf(pageOfSessions)).toEqual([
    expect.stringContaining('session_list_time (owner=? AND key=? AND at>? AND at<?)'),
  ]);
  const purging = planOf(purgeSessionList);
  expect(purging.join()).toContain('session_list_expiry (expires_at<?)');
  expect(purging.filter((step) => step.startsWith('SCAN session_list'))).toEqual([]);
  const treasury = treasuryQueries(db, dialect);
  const { newestWithdrawals, pageOfOpenPayouts, newestPayouts, payoutsUnderWay, newestNonce } = treasury;
  const { postingById, pageOfLines } = ledgerQueries(db, dialect);
  const { oldestOpenPayouts, countOpenPayouts } = operatorQueries(db, dialect);
  for (const [statement, ...steps] of [
    [treasury.pageOfOpenOrders, 'orders_waiting ((created_at,id)>(?,?))'],
    [treasury.newestOrders, 'orders_time ((created_at,id)<(?,?))'],
    [newestWithdrawals, 'payouts_account (account=? AND kind=? AND created_at>? AND (created_at,id)<(?,?))'],
    [treasury.payoutById, 'payouts USING PRIMARY KEY (id=?)'],
    [postingById, 'ledger_postings USING PRIMARY KEY (id=?)'],
    [
      pageOfLines,
      'ledger_entries USING PRIMARY KEY (account=? AND line>?)',
      'ledger_postings USING PRIMARY KEY (id=?)',
    ],
    [pageOfOpenPayouts, 'payouts_open (kind=? AND (created_at,id)>(?,?))'],
    [newestPayouts, 'payouts_kind (kind=? AND (created_at,id)<(?,?))'],
    // All open payouts are read, and put in order.
    [payoutsUnderWay, 'SCAN payouts USING INDEX payouts_open', 'USE TEMP B-TREE FOR ORDER BY'],
    [newestNonce, 'payout_attempts_nonce (sender=?)', 'payouts EXISTS USING PRIMARY KEY (id=?)'],
    [oldestOpenPayouts, 'payouts_open (kind=?)'],
    [countOpenPayouts, 'SCAN payouts USING INDEX payouts_open'],
  ] as const)
    expect(planOf(statement)).toEqual(steps.map((step) => expect.stringContaining(step)));
  expect(planOf(scanReceipts).join()).toContain(
    'receipts USING INDEX sqlite_autoindex_receipts_1 (id>? AND id<?)',
  );
  connection.close();
});
