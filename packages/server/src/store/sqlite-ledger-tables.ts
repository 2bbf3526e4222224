import { type Kysely, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { asText, ledgerQueries, ofDeadProcess } from './ledger-queries.ts';
import { accountFrom, reservationFrom } from './ledger-rows.ts';
import type {
  Account,
  CompressionOf,
  EntryRow,
  LedgerTables,
  MethodOf,
  PostingRow,
  Reservation,
  UsageOf,
} from './ledger-tables.ts';
import type { Schema } from './schema.ts';
import { statement } from './statement.ts';
import { all, run } from './work.ts';

/**
 * In process a statement costs little, so each row has its own. The transaction holds the only write lock there
 * is, so that reading a row keeps others from it.
 */
export function sqliteLedgerTables(db: Kysely<Schema>, dialect: Dialect): LedgerTables {
  const { accountByName } = ledgerQueries(db);
  const queries = { ...reservationQueries(db, dialect), ...bookQueries(db), ...countQueries(db) };
  return {
    *lockReservations(ids) {
      const found = new Map<string, Reservation>();
      for (const id of ids) {
        const [row] = yield* all(queries.reservationById, { id });
        if (row !== undefined) found.set(id, reservationFrom(row));
      }
      return found;
    },
    *insertReservations(reservations) {
      for (const one of reservations) yield* run(queries.insertReservation, one);
    },
    *deleteReservations(ids) {
      for (const id of ids) yield* run(queries.deleteReservation, { id });
    },
    *takeExpired(now, limit) {
      const rows = yield* all(queries.expired, { now, limit });
      for (const { id } of rows) yield* run(queries.deleteReservation, { id });
      return rows.map(reservationFrom);
    },
    *openAccounts(names) {
      for (const account of names) yield* run(queries.openAccount, { account });
    },
    *lockAccounts(names) {
      const found: Account[] = [];
      for (const account of names) {
        const [row] = yield* all(accountByName, { account });
        if (row !== undefined) found.push(accountFrom({ account, ...row }));
      }
      return found;
    },
    *setAccounts(accounts) {
      for (const one of accounts) yield* run(queries.setAccount, one);
    },
    *insertPostings(postings) {
      for (const one of postings) yield* run(queries.insertPosting, one);
    },
    *insertEntries(entries) {
      for (const one of entries) yield* run(queries.insertEntry, one);
    },
    *addUsage(usage) {
      for (const one of usage) yield* run(queries.addUsage, one);
    },
    *addCompression(rows) {
      for (const one of rows) yield* run(queries.addCompression, one);
    },
    *addMethods(rows) {
      for (const one of rows) yield* run(queries.addMethod, one);
    },
    *addJobs(jobs) {
      for (const [did, count] of jobs) yield* run(queries.addJobs, { did, count });
    },
  };
}

function reservationQueries(db: Kysely<Schema>, { now }: Dialect) {
  const reservations = db
    .selectFrom('reservations')
    .select([
      'id',
      'account',
      asText('amount').as('amount'),
      asText('dust').as('dust'),
      'expires_at as expiresAt',
      'process',
    ]);
  return {
    reservationById: statement((v: { id: string }) => reservations.where('id', '=', v.id)),
    expired: statement((v: { now: number; limit: number }) =>
      reservations
        .where((row) => row.or([row('expires_at', '<=', v.now), ofDeadProcess(now)]))
        .orderBy('expires_at')
        .limit(v.limit),
    ),
    insertReservation: statement((v: Reservation) =>
      db.insertInto('reservations').values({
        id: v.id,
        account: v.account,
        amount: v.amount,
        dust: v.dust,
        expires_at: v.expiresAt,
        process: v.process,
      }),
    ),
    deleteReservation: statement((v: { id: string }) => db.deleteFrom('reservations').where('id', '=', v.id)),
  };
}

function bookQueries(db: Kysely<Schema>) {
  return {
    openAccount: statement((v: { account: string }) =>
      db
        .insertInto('accounts')
        .values({ account: v.account })
        .onConflict((conflict) => conflict.column('account').doNothing()),
    ),
    setAccount: statement((v: Account) =>
      db
        .updateTable('accounts')
        .set({ balance: v.balance, reserved: v.reserved, dust: v.dust, lines: v.lines })
        .where('account', '=', v.account),
    ),
    insertPosting: statement((v: PostingRow) =>
      db.insertInto('ledger_postings').values({ id: v.id, memo: v.memo, at: v.at }),
    ),
    insertEntry: statement((v: EntryRow) =>
      db.insertInto('ledger_entries').values({
        account: v.account,
        line: v.line,
        posting: v.posting,
        amount: v.amount,
        balance: v.balance,
      }),
    ),
  };
}

function countQueries(db: Kysely<Schema>) {
  return {
    addUsage: statement((v: UsageOf) =>
      db
        .insertInto('usage_days')
        .values({
          subject: v.subject,
          day: v.day,
          model: v.model,
          calls: v.calls,
          prompt_tokens: v.promptTokens,
          completion_tokens: v.completionTokens,
          cached_tokens: v.cachedTokens,
          charged: v.charged,
          saved_tokens: v.savedTokens,
          saving: v.saving,
          share: v.share,
        })
        .onConflict((conflict) =>
          conflict.columns(['subject', 'day', 'model']).doUpdateSet({
            calls: sql`calls + excluded.calls`,
            prompt_tokens: sql`prompt_tokens + excluded.prompt_tokens`,
            completion_tokens: sql`completion_tokens + excluded.completion_tokens`,
            cached_tokens: sql`cached_tokens + excluded.cached_tokens`,
            charged: sql`charged + excluded.charged`,
            saved_tokens: sql`saved_tokens + excluded.saved_tokens`,
            saving: sql`saving + excluded.saving`,
            share: sql`share + excluded.share`,
          }),
        ),
    ),
    addCompression: statement((v: CompressionOf) =>
      db
        .insertInto('compression_days')
        .values({
          subject: v.subject,
          day: v.day,
          calls: v.calls,
          changed_calls: v.changedCalls,
          tokens_before: v.tokensBefore,
          tokens_after: v.tokensAfter,
          lost_cache_tokens: v.lostCacheTokens,
          saving: v.saving,
          share: v.share,
        })
        .onConflict((conflict) =>
          conflict.columns(['subject', 'day']).doUpdateSet({
            calls: sql`calls + excluded.calls`,
            changed_calls: sql`changed_calls + excluded.changed_calls`,
            tokens_before: sql`tokens_before + excluded.tokens_before`,
            tokens_after: sql`tokens_after + excluded.tokens_after`,
            lost_cache_tokens: sql`lost_cache_tokens + excluded.lost_cache_tokens`,
            saving: sql`saving + excluded.saving`,
            share: sql`share + excluded.share`,
          }),
        ),
    ),
    addMethod: statement((v: MethodOf) =>
      db
        .insertInto('compression_method_days')
        .values({ subject: v.subject, day: v.day, method: v.method, calls: v.calls, tokens: v.tokens })
        .onConflict((conflict) =>
          conflict.columns(['subject', 'day', 'method']).doUpdateSet({
            calls: sql`calls + excluded.calls`,
            tokens: sql`tokens + excluded.tokens`,
          }),
        ),
    ),
    addJobs: statement((v: { did: string; count: number }) =>
      db
        .updateTable('members')
        .set({ jobs: sql`jobs + ${v.count}` })
        .where('did', '=', v.did),
    ),
  };
}
