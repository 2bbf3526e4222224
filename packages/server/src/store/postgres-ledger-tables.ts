import { type Kysely, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { ofDeadProcess } from './ledger-queries.ts';
import { accountFrom, reservationFrom } from './ledger-rows.ts';
import type { CompressionOf, LedgerTables, MethodOf } from './ledger-tables.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

/** A statement for all rows at once, since each costs a round trip, and none for no row. */
export function postgresLedgerTables(db: Kysely<Schema>, dialect: Dialect): LedgerTables {
  const queries = { ...reservationStatements(db, dialect), ...bookStatements(db), ...countStatements(db) };
  return {
    *lockReservations(ids) {
      if (ids.length === 0) return new Map();
      const rows = yield* all(queries.lockReservations, { ids });
      return new Map(rows.map((row) => [row.id, reservationFrom(row)]));
    },
    *insertReservations(reservations) {
      if (reservations.length > 0) yield* run(queries.insertReservations, columns(reservations));
    },
    *deleteReservations(ids) {
      if (ids.length > 0) yield* run(queries.deleteReservations, { ids });
    },
    *takeExpired(now, limit) {
      return (yield* all(queries.takeExpired, { now, limit })).map(reservationFrom);
    },
    *openAccounts(names) {
      if (names.length > 0) yield* run(queries.openAccounts, { names });
    },
    *lockAccounts(names) {
      if (names.length === 0) return [];
      return (yield* all(queries.lockAccounts, { names })).map(accountFrom);
    },
    *setAccounts(accounts) {
      if (accounts.length > 0) yield* run(queries.setAccounts, columns(accounts));
    },
    *insertPostings(postings) {
      if (postings.length > 0) yield* run(queries.insertPostings, columns(postings));
    },
    *insertEntries(entries) {
      if (entries.length > 0) yield* run(queries.insertEntries, columns(entries));
    },
    *addUsage(usage) {
      if (usage.length > 0) yield* run(queries.addUsage, columns(usage));
    },
    *addCompression(rows) {
      if (rows.length > 0) yield* run(queries.addCompression, columns(rows));
    },
    *addMethods(rows) {
      if (rows.length > 0) yield* run(queries.addMethods, columns(rows));
    },
    *addJobs(jobs): Work<void> {
      if (jobs.size === 0) return;
      yield* all(queries.lockMembers, { dids: [...jobs.keys()] });
      yield* run(queries.addJobs, { dids: [...jobs.keys()], counts: [...jobs.values()] });
    },
  };
}

type Columns<Row> = { readonly [Key in keyof Row]: readonly Row[Key][] };

/** The rows turned into one array a column. */
function columns<Row extends object>(rows: readonly Row[]): Columns<Row> {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[];
  const arrays: Partial<Record<keyof Row, unknown[]>> = {};
  for (const name of names) arrays[name] = rows.map((row) => row[name]);
  return arrays as Columns<Row>;
}

interface ReservationText {
  id: string;
  account: string;
  amount: string;
  dust: string;
  expiresAt: number;
  process: string | null;
}

const RESERVATION = sql<ReservationText>`
  id, account, cast(amount as text) as amount, cast(dust as text) as dust, expires_at as "expiresAt", process`;

type Reservations = Columns<{
  id: string;
  account: string;
  amount: bigint;
  dust: bigint;
  expiresAt: number;
  process: string | null;
}>;

function reservationStatements(db: Kysely<Schema>, { now }: Dialect) {
  return {
    lockReservations: statement((v: { ids: readonly string[] }) =>
      raw(
        db,
        sql<ReservationText>`
          select ${RESERVATION} from reservations where id = any(${v.ids}::text[]) order by id for update`,
      ),
    ),
    insertReservations: statement((v: Reservations) =>
      raw(
        db,
        sql`
          insert into reservations (id, account, amount, dust, expires_at, process)
          select * from unnest(
            ${v.id}::text[], ${v.account}::text[], ${v.amount}::bigint[], ${v.dust}::bigint[],
            ${v.expiresAt}::bigint[], ${v.process}::text[])`,
      ),
    ),
    deleteReservations: statement((v: { ids: readonly string[] }) =>
      raw(db, sql`delete from reservations where id = any(${v.ids}::text[])`),
    ),
    takeExpired: statement((v: { now: number; limit: number }) =>
      raw(
        db,
        sql<ReservationText>`
          delete from reservations where id in (
            select id from reservations where expires_at <= ${v.now} or ${ofDeadProcess(now)}
            order by expires_at limit ${v.limit} for update skip locked)
          returning ${RESERVATION}`,
      ),
    ),
  };
}

type Accounts = Columns<{
  account: string;
  balance: bigint;
  reserved: bigint;
  dust: bigint;
  lines: number;
}>;

function bookStatements(db: Kysely<Schema>) {
  return {
    openAccounts: statement((v: { names: readonly string[] }) =>
      raw(
        db,
        sql`
          insert into accounts (account)
          select name from unnest(${v.names}::text[]) as r (name) order by name collate "C"
          on conflict (account) do nothing`,
      ),
    ),
    lockAccounts: statement((v: { names: readonly string[] }) =>
      raw(
        db,
        sql<{ account: string; balance: string; reserved: string; dust: string; lines: number }>`
          select account, cast(balance as text) as balance, cast(reserved as text) as reserved,
            cast(dust as text) as dust, lines
          from accounts where account = any(${v.names}::text[]) order by account for update`,
      ),
    ),
    setAccounts: statement((v: Accounts) =>
      raw(
        db,
        sql`
          update accounts set balance = r.balance, reserved = r.reserved, dust = r.dust, lines = r.lines
          from unnest(
            ${v.account}::text[], ${v.balance}::bigint[], ${v.reserved}::bigint[], ${v.dust}::bigint[],
            ${v.lines}::bigint[]
          ) as r (account, balance, reserved, dust, lines)
          where accounts.account = r.account`,
      ),
    ),
    insertPostings: statement((v: Columns<{ id: string; memo: string; at: number }>) =>
      raw(
        db,
        sql`
          insert into ledger_postings (id, memo, at)
          select * from unnest(${v.id}::text[], ${v.memo}::text[], ${v.at}::bigint[])`,
      ),
    ),
    insertEntries: statement(
      (v: Columns<{ account: string; line: number; posting: string; amount: bigint; balance: bigint }>) =>
        raw(
          db,
          sql`
            insert into ledger_entries (account, line, posting, amount, balance)
            select * from unnest(
              ${v.account}::text[], ${v.line}::bigint[], ${v.posting}::text[], ${v.amount}::bigint[],
              ${v.balance}::bigint[])`,
        ),
    ),
  };
}

type Usage = Columns<{
  subject: string;
  day: string;
  model: string;
  calls: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  charged: bigint;
  savedTokens: number;
  saving: bigint;
  share: bigint;
}>;

function countStatements(db: Kysely<Schema>) {
  return {
    addUsage: statement((v: Usage) =>
      raw(
        db,
        sql`
          insert into usage_days as u (subject, day, model, calls, prompt_tokens, completion_tokens,
            cached_tokens, charged, saved_tokens, saving, share)
          select * from unnest(
            ${v.subject}::text[], ${v.day}::text[], ${v.model}::text[], ${v.calls}::bigint[],
            ${v.promptTokens}::bigint[], ${v.completionTokens}::bigint[], ${v.cachedTokens}::bigint[],
            ${v.charged}::bigint[], ${v.savedTokens}::bigint[], ${v.saving}::bigint[], ${v.share}::bigint[]
          ) as r (subject, day, model, calls, prompt_tokens, completion_tokens, cached_tokens, charged,
            saved_tokens, saving, share)
          order by r.subject collate "C", r.day collate "C", r.model collate "C"
          on conflict (subject, day, model) do update set
            calls = u.calls + excluded.calls,
            prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
            completion_tokens = u.completion_tokens + excluded.completion_tokens,
            cached_tokens = u.cached_tokens + excluded.cached_tokens,
            charged = u.charged + excluded.charged,
            saved_tokens = u.saved_tokens + excluded.saved_tokens,
            saving = u.saving + excluded.saving,
            share = u.share + excluded.share`,
      ),
    ),
    addCompression: statement((v: Columns<CompressionOf>) =>
      raw(
        db,
        sql`
          insert into compression_days as d (subject, day, calls, changed_calls, tokens_before, tokens_after,
            lost_cache_tokens, saving, share)
          select * from unnest(
            ${v.subject}::text[], ${v.day}::text[], ${v.calls}::bigint[], ${v.changedCalls}::bigint[],
            ${v.tokensBefore}::bigint[], ${v.tokensAfter}::bigint[], ${v.lostCacheTokens}::bigint[], ${v.saving}::bigint[], ${v.share}::bigint[]
          ) as r (subject, day, calls, changed_calls, tokens_before, tokens_after, lost_cache_tokens, saving,
            share)
          order by r.subject collate "C", r.day collate "C"
          on conflict (subject, day) do update set
            calls = d.calls + excluded.calls,
            changed_calls = d.changed_calls + excluded.changed_calls,
            tokens_before = d.tokens_before + excluded.tokens_before,
            tokens_after = d.tokens_after + excluded.tokens_after,
            lost_cache_tokens = d.lost_cache_tokens + excluded.lost_cache_tokens,
            saving = d.saving + excluded.saving,
            share = d.share + excluded.share`,
      ),
    ),
    addMethods: statement((v: Columns<MethodOf>) =>
      raw(
        db,
        sql`
          insert into compression_method_days as d (subject, day, method, calls, tokens)
          select * from unnest(
            ${v.subject}::text[], ${v.day}::text[], ${v.method}::text[], ${v.calls}::bigint[], ${v.tokens}::bigint[]
          ) as r (subject, day, method, calls, tokens)
          order by r.subject collate "C", r.day collate "C", r.method collate "C"
          on conflict (subject, day, method) do update set
            calls = d.calls + excluded.calls,
            tokens = d.tokens + excluded.tokens`,
      ),
    ),
    lockMembers: statement((v: { dids: readonly string[] }) =>
      raw(db, sql`select did from members where did = any(${v.dids}::text[]) order by did for no key update`),
    ),
    addJobs: statement((v: { dids: readonly string[]; counts: readonly number[] }) =>
      raw(
        db,
        sql`
          update members set jobs = jobs + r.count
          from unnest(${v.dids}::text[], ${v.counts}::bigint[]) as r (did, count)
          where members.did = r.did`,
      ),
    ),
  };
}
