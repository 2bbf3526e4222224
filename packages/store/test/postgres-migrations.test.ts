import type { ReceiptRow } from '@tallystick/kit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../server/test/postgres.ts';
import { openPostgresStore } from '../src/postgres.ts';

const INDEX = 'receipts_room';
const RECEIPT: ReceiptRow = { id: 'r', profile: 'nano', tenant: 't', body: '""', issuedAt: 0, expiresAt: 1 };

let server: TestPostgres;
let databases = 0;
/** The version that a new database has. */
let newest: number;
beforeAll(async () => {
  server = await startPostgres();
  const url = await server.url('newest');
  await (await openPostgresStore(url)).close();
  const client = new Client({ connectionString: url });
  await client.connect();
  newest = await versionOf(client);
  await client.end();
});
afterAll(() => server?.stop());

/** A database that lacks what came after a version, and connections to it. */
async function databaseAt(version: 9 | 10): Promise<{ url: string; hold: Client; other: Client }> {
  databases += 1;
  const url = await server.url(`migrations_${databases}`);
  await (await openPostgresStore(url)).close();
  const [hold, other] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all([hold.connect(), other.connect()]);
  await other.query(
    `drop index ${INDEX}, orders_time, payouts_open, payouts_account, payouts_kind, payout_attempts_nonce, orders_waiting, api_keys_time; drop table treasury_marks, sessions, session_places, learned, rated_calls, model_rests, receipt_list, receipt_counts, session_list, anchor_list, calls, call_tags, call_details, call_contents, call_counts, call_writers, spending, did_limits, webhooks, webhook_deliveries, webhook_marks, status_states, status_days, status_incidents, operator_keys, streams, stream_rounds, stream_heads; alter table room_exports drop column etag; alter table receipts drop column owned_by, drop column made_with; alter table ledger_postings drop column owner; alter table api_keys drop column routing, drop column owner, drop column manages, drop column limits, drop column last_used_at, drop column previous_hash, drop column previous_until, drop column keep; alter table reservations drop column spender, drop column owner, drop column tokens, drop column minute, drop column slice; delete from schema_migrations where version > ${version}`,
  );
  if (version === 9)
    await other.query('alter table schema_migrations drop column release, drop column needs');
  return { url, hold, other };
}

/** Resolves to the process of a statement that waits for another transaction. */
async function waiting(client: Client, beginning: string): Promise<number> {
  for (;;) {
    const { rows } = await client.query(
      `select pid from pg_stat_activity where wait_event_type = 'Lock' and query ilike $1 and datname = current_database()`,
      [`${beginning}%`],
    );
    if (rows.length > 0) return rows[0].pid;
  }
}

async function isValid(client: Client): Promise<boolean | null> {
  const { rows } = await client.query(
    `select indisvalid from pg_index where indexrelid = to_regclass('${INDEX}')`,
  );
  return rows[0]?.indisvalid ?? null;
}

async function versionOf(client: Client): Promise<number> {
  return Number((await client.query('select max(version) as newest from schema_migrations')).rows[0].newest);
}

it('makes an index while others write, and while others wait for the same', async () => {
  const { url, hold, other } = await databaseAt(10);
  await hold.query(`begin; insert into receipts values ('held', 'nano', 't', '""', 0, 1)`);
  const opening = [openPostgresStore(url), openPostgresStore(url), openPostgresStore(url)];
  await waiting(other, 'create index');
  await other.query(`insert into receipts values ('meanwhile', 'nano', 't', '""', 0, 1)`);
  expect(await versionOf(other)).toBe(10);
  await hold.query('commit');
  const stores = await Promise.all(opening);
  expect([await isValid(other), await versionOf(other)]).toEqual([true, newest]);
  for (const store of stores) expect(await store.getReceipt('meanwhile')).toMatchObject({ kind: 'found' });
  await Promise.all([...stores.map((store) => store.close()), hold.end(), other.end()]);
});

it('makes an index anew that was left unfinished', async () => {
  const { url, hold, other } = await databaseAt(10);
  await hold.query(`begin; insert into receipts values ('held', 'nano', 't', '""', 0, 1)`);
  const interrupted = openPostgresStore(url).catch((error: unknown) => error);
  await other.query('select pg_terminate_backend($1)', [await waiting(other, 'create index')]);
  expect(await interrupted).toMatchObject({ code: 'unavailable' });
  await hold.query('commit');
  expect([await isValid(other), await versionOf(other)]).toEqual([false, 10]);
  const store = await openPostgresStore(url);
  expect([await isValid(other), await versionOf(other)]).toEqual([true, newest]);
  expect(await store.putReceipt(RECEIPT)).toEqual({ kind: 'stored' });
  await Promise.all([store.close(), hold.end(), other.end()]);
});

it('keeps nobody waiting for a table that it does not get', async () => {
  const { url, hold, other } = await databaseAt(9);
  await hold.query('begin; select from schema_migrations');
  const opening = openPostgresStore(url);
  const watch = new Client({ connectionString: url });
  await watch.connect();
  await waiting(watch, 'alter table');
  expect(await versionOf(other)).toBe(9);
  await hold.query('commit');
  const store = await opening;
  expect(await versionOf(other)).toBe(newest);
  await Promise.all([store.close(), hold.end(), other.end(), watch.end()]);
});
