import type { PutOutcome } from '@tallystick/kit';
import { type Kysely, sql } from 'kysely';
import type { Lookup } from './queries.ts';
import type { Schema } from './schema.ts';
import { type Put, repeat, type SqlDatabase } from './sql-database.ts';
import { raw, statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

type Statements = ReturnType<typeof batchStatements>;

/** Group-committed writes: a few statements for a whole batch, since each costs a round trip. */
export function postgresWrites(db: Kysely<Schema>): SqlDatabase['putReceipts'] {
  const statements = batchStatements(db);
  return (puts) => putReceipts(statements, puts);
}

function* putReceipts(statements: Statements, puts: readonly Put[]): Work<PutOutcome[]> {
  const outcomes = new Map<Put, PutOutcome>();
  for (let waiting = puts; waiting.length > 0; ) {
    yield* putRound(statements, waiting, outcomes);
    waiting = waiting.filter((put) => !outcomes.has(put));
  }
  return puts.flatMap((put) => outcomes.get(put) ?? []);
}

/**
 * Settles the first put of every scope and id, and with them those that repeat their scope or id. What stays
 * open (its scope was given back, or purged just now) goes into another round.
 */
function* putRound(
  statements: Statements,
  waiting: readonly Put[],
  outcomes: Map<Put, PutOutcome>,
): Work<void> {
  const leaders = firstOfEach(waiting);
  const claimed = yield* claimScopes(statements, leaders);
  const writers = leaders.filter(
    ({ idempotency }) => idempotency === undefined || claimed.has(idempotency.scope),
  );
  const stored = yield* insertReceipts(statements, writers);
  for (const put of stored) outcomes.set(put, { kind: 'stored' });

  const idTaken = writers.filter((put) => !stored.has(put));
  yield* releaseScopes(statements, idTaken);
  const records = yield* findRecords(
    statements,
    waiting.filter((put) => !outcomes.has(put)),
  );
  const ids = new Set(writers.map((put) => put.row.id));
  for (const put of waiting) {
    if (outcomes.has(put)) continue;
    const record = put.idempotency && records.get(put.idempotency.scope);
    if (put.idempotency !== undefined && record !== undefined) {
      outcomes.set(put, repeat(record, put.idempotency.requestHash));
    } else if (ids.has(put.row.id)) {
      outcomes.set(put, { kind: 'id_taken' });
    }
  }
}

/** Drops every put whose scope or id an earlier one has. */
function firstOfEach(puts: readonly Put[]): Put[] {
  const scopes = new Set<string>();
  const ids = new Set<string>();
  return puts.filter(({ row, idempotency }) => {
    const first = !ids.has(row.id) && (idempotency === undefined || !scopes.has(idempotency.scope));
    ids.add(row.id);
    if (idempotency !== undefined) scopes.add(idempotency.scope);
    return first;
  });
}

/** The scopes that were free and are now held by these puts. */
function* claimScopes({ claimScopes }: Statements, puts: readonly Put[]): Work<Set<string>> {
  const records = puts.flatMap(({ row, idempotency }) =>
    idempotency === undefined
      ? []
      : { ...idempotency, receiptId: row.id, expiresAt: Math.min(idempotency.expiresAt, row.expiresAt) },
  );
  if (records.length === 0) return new Set();
  const claimed = yield* all(claimScopes, {
    scopes: records.map((record) => record.scope),
    hashes: records.map((record) => record.requestHash),
    receiptIds: records.map((record) => record.receiptId),
    responses: records.map((record) => record.response ?? null),
    expiries: records.map((record) => record.expiresAt),
  });
  return new Set(claimed.map((row) => row.scope));
}

/** The puts whose id was free. */
function* insertReceipts({ insertReceipts }: Statements, puts: readonly Put[]): Work<Set<Put>> {
  if (puts.length === 0) return new Set();
  const inserted = yield* all(insertReceipts, {
    ids: puts.map(({ row }) => row.id),
    profiles: puts.map(({ row }) => row.profile),
    tenants: puts.map(({ row }) => row.tenant),
    bodies: puts.map(({ row }) => row.body),
    issued: puts.map(({ row }) => row.issuedAt),
    expiries: puts.map(({ row }) => row.expiresAt),
  });
  const ids = new Set(inserted.map((row) => row.id));
  return new Set(puts.filter(({ row }) => ids.has(row.id)));
}

function* releaseScopes({ releaseScopes }: Statements, puts: readonly Put[]): Work<void> {
  const scopes = puts.flatMap(({ idempotency }) => idempotency?.scope ?? []);
  if (scopes.length > 0) yield* run(releaseScopes, { scopes });
}

function* findRecords({ findRecords }: Statements, puts: readonly Put[]): Work<Map<string, Lookup>> {
  const scopes = [...new Set(puts.flatMap(({ idempotency }) => idempotency?.scope ?? []))];
  if (scopes.length === 0) return new Map();
  const records = yield* all(findRecords, { scopes });
  return new Map(records.map((record) => [record.scope, record]));
}

/** Rows are locked in the order of their keys, so that two processes never wait for each other. */
function batchStatements(db: Kysely<Schema>) {
  return {
    claimScopes: statement(
      (v: {
        scopes: string[];
        hashes: string[];
        receiptIds: string[];
        responses: (string | null)[];
        expiries: number[];
      }) =>
        raw(
          db,
          sql<{ scope: string }>`
          insert into idempotency (scope, request_hash, receipt_id, response, expires_at)
          select * from unnest(
            ${v.scopes}::text[], ${v.hashes}::text[], ${v.receiptIds}::text[], ${v.responses}::text[],
            ${v.expiries}::bigint[]
          ) as r (scope, request_hash, receipt_id, response, expires_at)
          order by r.scope collate "C"
          on conflict (scope) do nothing
          returning scope`,
        ),
    ),
    releaseScopes: statement((v: { scopes: string[] }) =>
      raw(db, sql`delete from idempotency where scope = any(${v.scopes}::text[])`),
    ),
    findRecords: statement((v: { scopes: string[] }) =>
      raw(
        db,
        sql<Lookup & { scope: string }>`
          select scope, request_hash as "requestHash", coalesce(response, body) as response
          from idempotency left join receipts on receipts.id = receipt_id
          where scope = any(${v.scopes}::text[])`,
      ),
    ),
    insertReceipts: statement(
      (v: {
        ids: string[];
        profiles: string[];
        tenants: (string | null)[];
        bodies: string[];
        issued: number[];
        expiries: number[];
      }) =>
        raw(
          db,
          sql<{ id: string }>`
            insert into receipts (id, profile, tenant, body, issued_at, expires_at)
            select * from unnest(
              ${v.ids}::text[], ${v.profiles}::text[], ${v.tenants}::text[], ${v.bodies}::text[],
              ${v.issued}::bigint[], ${v.expiries}::bigint[]
            ) as r (id, profile, tenant, body, issued_at, expires_at)
            order by r.id collate "C"
            on conflict (id) do nothing
            returning id`,
        ),
    ),
  };
}
