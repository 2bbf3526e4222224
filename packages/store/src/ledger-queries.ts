import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';

/** Money as text, since it can exceed 2^53. */
export function asText(column: string) {
  return sql<string>`cast(${sql.ref(column)} as text)`;
}

/** Whether the process of a row in `reservations` has no lease any more. `now` is the database's clock. */
export function ofDeadProcess(now: RawBuilder<number>) {
  return sql<boolean>`(process is not null and not exists (
    select 1 from processes where processes.id = reservations.process and lease_until > ${now}))`;
}

/** The ledger's statements that all databases share. */
export function ledgerQueries(db: Kysely<Schema>, dialect: Pick<Dialect, 'forUpdate'>) {
  return { ...bookQueries(db, dialect), ...compressionTotals(db), ...memberQueries(db) };
}

function bookQueries(db: Kysely<Schema>, { forUpdate }: Pick<Dialect, 'forUpdate'>) {
  return {
    postingById: statement((v: { id: string }) =>
      db.selectFrom('ledger_postings').select(['id', 'at']).where('id', '=', v.id),
    ),
    accountByName: statement((v: { account: string }) =>
      db
        .selectFrom('accounts')
        .select([
          asText('balance').as('balance'),
          asText('reserved').as('reserved'),
          asText('dust').as('dust'),
          'lines',
        ])
        .where('account', '=', v.account),
    ),
    reservedInAll: statement(() =>
      db.selectFrom('reservations').select(sql<string>`cast(coalesce(sum(amount), 0) as text)`.as('amount')),
    ),
    slicesOf: statement((v: { account: string }) =>
      db
        .selectFrom('reservations')
        .select('slice')
        .where('account', '=', v.account)
        .where('slice', 'in', [sql.lit('open'), sql.lit('recalled')]),
    ),
    recallSlices: statement((v: { account: string }) =>
      raw(
        db,
        sql`
          update reservations set slice = 'recalled' where id in (
            select id from reservations where account = ${v.account} and slice = 'open' order by id ${forUpdate})`,
      ),
    ),
    recalledFrom: statement((v: { process: string }) =>
      db
        .selectFrom('reservations')
        .select('id')
        .where('process', '=', v.process)
        .where('slice', '=', sql.lit('recalled')),
    ),
    spentAndReserved: statement((v: { spender: string; day: string; firstOfMonth: string }) => {
      const charged = db
        .selectFrom('spending')
        .select(sql`sum(charged)`.as('charged'))
        .where('spender', '=', v.spender);
      const held = db
        .selectFrom('reservations')
        .select(sql`sum(amount)`.as('amount'))
        .where((row) => row.or([row('spender', '=', v.spender), row('owner', '=', v.spender)]));
      const text = (sum: typeof charged | typeof held) => sql<string>`cast(coalesce(${sum}, 0) as text)`;
      return db.selectNoFrom([
        text(held).as('reserved'),
        text(charged.where('day', '>=', v.firstOfMonth)).as('month'),
        text(charged.where('day', '=', v.day)).as('day'),
      ]);
    }),
    pageOfLines: statement((v: { account: string; after: number; limit: number }) =>
      db
        .selectFrom('ledger_entries')
        .innerJoin('ledger_postings', 'ledger_postings.id', 'ledger_entries.posting')
        .select([
          'ledger_entries.line',
          'ledger_entries.posting',
          'ledger_postings.memo',
          'ledger_postings.at',
          asText('ledger_entries.amount').as('amount'),
          asText('ledger_entries.balance').as('balance'),
        ])
        .where('ledger_entries.account', '=', v.account)
        .where('ledger_entries.line', '>', v.after)
        .orderBy('ledger_entries.line')
        .limit(v.limit),
    ),
    usageOf: statement((v: { subject: string; from: string; to: string }) =>
      db
        .selectFrom('usage_days')
        .select([
          'day',
          'model',
          'calls',
          'prompt_tokens as promptTokens',
          'completion_tokens as completionTokens',
          'cached_tokens as cachedTokens',
          asText('charged').as('charged'),
          'saved_tokens as savedTokens',
          asText('saving').as('saving'),
          asText('share').as('share'),
        ])
        .where('subject', '=', v.subject)
        .where('day', '>=', v.from)
        .where('day', '<=', v.to)
        .orderBy('day')
        .orderBy('model'),
    ),
  };
}

/** Without a cast, sums are text in one database and numbers in the other. */
function compressionTotals(db: Kysely<Schema>) {
  const sumOf = (column: string) => sql<string>`cast(coalesce(sum(${sql.ref(column)}), 0) as text)`;
  const days = db
    .selectFrom('compression_days')
    .select([
      sumOf('calls').as('calls'),
      sumOf('changed_calls').as('changedCalls'),
      sumOf('tokens_before').as('tokensBefore'),
      sumOf('tokens_after').as('tokensAfter'),
      sumOf('lost_cache_tokens').as('lostCacheTokens'),
      sumOf('saving').as('saving'),
      sumOf('share').as('share'),
    ]);
  const methods = db
    .selectFrom('compression_method_days')
    .select(['method', sumOf('calls').as('calls'), sumOf('tokens').as('tokens')])
    .groupBy('method')
    .orderBy('method');
  return {
    compressionOf: statement((v: { subject: string }) => days.where('subject', '=', v.subject)),
    methodsOf: statement((v: { subject: string }) => methods.where('subject', '=', v.subject)),
  };
}

function memberQueries(db: Kysely<Schema>) {
  const members = db.selectFrom('members').select(['did', 'handle', 'registered_at as registeredAt', 'jobs']);
  return {
    memberByDid: statement((v: { did: string }) => members.where('did', '=', v.did)),
    memberByHandle: statement((v: { handle: string }) => members.where('handle', '=', v.handle)),
    insertMember: statement((v: { did: string; handle: string | null; at: number }) =>
      db
        .insertInto('members')
        .values({ did: v.did, handle: v.handle, registered_at: v.at, jobs: sql.lit(0) })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    leaders: statement((v: { limit: number }) =>
      members.orderBy('jobs', 'desc').orderBy('registered_at').orderBy('did').limit(v.limit),
    ),
  };
}
