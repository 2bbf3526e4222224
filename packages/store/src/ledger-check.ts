import type { BalanceCheck } from '@tallystick/ledger';
import { type Kysely, sql } from 'kysely';
import { all, type Work } from './database-work.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';

/** One statement, so that it reads one snapshot while others write. */
export function ledgerCheckQuery(db: Kysely<Schema>) {
  return statement(() =>
    raw(
      db,
      sql<{ kind: 'postings' | 'sum' | 'fault'; detail: string }>`
        with
          summed as (
            select account, sum(amount) as total, count(*) as lines, max(line) as last
            from ledger_entries group by account),
          held as (select account, sum(amount) as total from reservations group by account),
          running as (
            select account, line, balance, sum(amount) over (partition by account order by line) as total
            from ledger_entries)
        select 'postings' as kind, cast(count(*) as text) as detail from ledger_postings
        union all
        select 'sum', cast(coalesce(sum(amount), 0) as text) from ledger_entries
        union all
        select 'fault', 'posting ' || posting || ' sums to ' || cast(sum(amount) as text)
        from ledger_entries group by posting having sum(amount) <> 0
        union all
        select 'fault', 'account ' || e.account || ', line ' || cast(line as text) || ': its posting ' || posting || ' is missing'
        from ledger_entries e left join ledger_postings p on p.id = e.posting where p.id is null
        union all
        select 'fault', 'account ' || r.account || ', line ' || cast(line as text) || ': says balance '
          || cast(balance as text) || ', the lines to it sum to ' || cast(total as text)
        from running r where balance <> total
        union all
        select 'fault', 'account ' || s.account || ' has lines and no balance'
        from summed s left join accounts a on a.account = s.account where a.account is null
        union all
        select 'fault', 'account ' || a.account || ' has ' || cast(coalesce(s.lines, 0) as text)
          || ' lines to ' || cast(coalesce(s.last, 0) as text) || ', not ' || cast(a.lines as text)
        from accounts a left join summed s on s.account = a.account
        where coalesce(s.lines, 0) <> a.lines or coalesce(s.last, 0) <> a.lines
        union all
        select 'fault', 'account ' || a.account || ' has balance ' || cast(a.balance as text)
          || ', its lines sum to ' || cast(coalesce(s.total, 0) as text)
        from accounts a left join summed s on s.account = a.account
        where coalesce(s.total, 0) <> a.balance
        union all
        select 'fault', 'account ' || a.account || ' has ' || cast(a.reserved as text)
          || ' reserved, its reservations sum to ' || cast(coalesce(h.total, 0) as text)
        from accounts a left join held h on h.account = a.account
        where coalesce(h.total, 0) <> a.reserved
        union all
        select 'fault', 'account ' || h.account || ' has reservations and no balance'
        from held h left join accounts a on a.account = h.account where a.account is null
        union all
        select 'fault', 'account ' || account || ' has balance ' || cast(balance as text)
          || ', less than the ' || cast(reserved as text) || ' that are reserved'
        from accounts where substr(account, 1, 7) = 'caller:' and balance < reserved`,
    ),
  );
}

/** See {@link LedgerStore.checkBalanced}. */
export function* checkBalanced(query: ReturnType<typeof ledgerCheckQuery>): Work<BalanceCheck> {
  const rows = yield* all(query, {});
  const detail = (kind: string): string => rows.find((row) => row.kind === kind)?.detail ?? '0';
  return {
    postings: Number(detail('postings')),
    sum: BigInt(detail('sum')),
    faults: rows.flatMap((row) => (row.kind === 'fault' ? row.detail : [])),
  };
}
