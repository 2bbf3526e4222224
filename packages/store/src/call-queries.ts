import type { CallMark, ListedCall, UnlistedCall } from '@tallystick/inference';
import { type RawBuilder, sql } from 'kysely';
import { callCountQueries } from './call-count-queries.ts';
import { byDriver, type CallDriver, checks, costBetween, type FilterValues, timeOf } from './call-filters.ts';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, type Statement, statement } from './statement.ts';

/** The values of the statements of pages. */
export interface PageValues extends FilterValues {
  readonly from: number;
  readonly beforeAt: number;
  readonly beforeId: string;
  readonly limit: number;
}

/** A row whose amounts are still text. */
export type ReadCall = Omit<ListedCall, 'cost' | 'saving'> & {
  readonly cost: string;
  readonly saving: string;
};

const ROW = sql`
  calls.id, calls.owner, calls.at, receipt_id as "receiptId", model, requested_model as "requestedModel", provider,
  route_reason as "routeReason", stream, prompt_tokens as "promptTokens", completion_tokens as "completionTokens",
  cached_tokens as "cachedTokens", cast(cost as text) as cost, cast(saving as text) as saving,
  first_byte_ms as "firstByteMs", total_ms as "totalMs", status, error_code as "errorCode", did, key, session, tags,
  request_hash as "requestHash",
  (select count(*) from call_contents where call_contents.id = calls.id) as "contentKept"`;

/** Rows with a cost in the range from which on a page is read in the order of time rather than by cost. */
const MANY = 20_000;

type CallDialect = Pick<Dialect, 'now' | 'indexedBy'>;

/** The statements about calls that all databases share. */
export function callQueries(db: Compiler, dialect: CallDialect) {
  return {
    ...callCountQueries(db, dialect),
    pagesOfCalls: pageStatements(db, dialect),
    callsOfCost: statement((v: Pick<FilterValues, 'owner' | 'minCost' | 'maxCost'>) =>
      raw(
        db,
        sql<{ found: number }>`
          select count(*) as found from (
            select 1 from calls where owner = ${v.owner} and ${costBetween(v)} limit ${sql.lit(MANY)}) as within`,
      ),
    ),
    callById: statement((v: { owner: string; id: string }) =>
      raw(
        db,
        sql<ReadCall & { detail: string | null }>`
          select ${ROW}, body as detail from calls left join call_details on call_details.id = calls.id
          where calls.id = ${v.id} and owner = ${v.owner}`,
      ),
    ),
    unlistedCalls: statement((v: { after: string; before: string; limit: number }) =>
      raw(
        db,
        sql<UnlistedCall>`
          select ledger_postings.id as id, ledger_postings.owner as owner, receipts.made_with as key, receipts.body as body
          from ledger_postings
          join receipts on receipts.id = ledger_postings.id
          left join calls on calls.id = ledger_postings.id
          where ledger_postings.id > ${v.after} and ledger_postings.id < ${v.before}
            and ledger_postings.owner is not null and calls.id is null
          order by ledger_postings.id limit ${v.limit}`,
      ),
    ),
    markCallWriter: statement((v: CallMark) =>
      db
        .insertInto('call_writers')
        .values({ process: v.process, listed_until: v.listedUntil })
        .onConflict((conflict) => conflict.column('process').doUpdateSet({ listed_until: v.listedUntil })),
    ),
    endCallWriter: statement((v: { process: string }) =>
      db.deleteFrom('call_writers').where('process', '=', v.process),
    ),
    abandonedCallWriters: statement(() =>
      raw(
        db,
        sql<CallMark>`
          select process, listed_until as "listedUntil" from call_writers
          where not exists (select 1 from processes where id = process and lease_until > ${dialect.now})`,
      ),
    ),
  };
}

export function isMany(found: number): boolean {
  return found >= MANY;
}

type PageDriver = CallDriver | 'costAlone';

function pageStatements(
  db: Compiler,
  dialect: CallDialect,
): Readonly<Record<PageDriver, Statement<PageValues, ReadCall>>> {
  return {
    ...byDriver(dialect, (driver, { from, lookedUp }) =>
      statement((v: PageValues) =>
        raw(
          db,
          sql<ReadCall>`
            select ${ROW} from ${from} and ${lookedUp(v)}
              and ${placed(driver, v)} and ${sql.join(checks(driver, v), sql` and `)}
            order by ${driver === 'cost' ? sql`calls.at` : timeOf(driver)} desc, ${idOf(driver)} desc limit ${v.limit}`,
        ),
      ),
    ),
    // The index has all that the order needs: only the rows of the page are read.
    costAlone: statement((v: PageValues) =>
      raw(
        db,
        sql<ReadCall>`
          select ${ROW} from (
            select calls.at as place_at, calls.id as place_id from calls ${dialect.indexedBy('calls_cost')}
            where calls.owner = ${v.owner} and ${costBetween(v)} and ${placed('cost', v)}
            order by calls.at desc, calls.id desc limit ${v.limit}) as places
          join calls on calls.id = place_id
          order by place_at desc, place_id desc`,
      ),
    ),
  };
}

const idOf = (driver: CallDriver) => (driver === 'tag' ? sql`call_tags.id` : sql`calls.id`);

/** The part of the list that a page is taken from. */
function placed(driver: CallDriver, v: PageValues): RawBuilder<unknown> {
  const at = timeOf(driver);
  return sql`${at} >= ${v.from} and ${at} <= ${v.beforeAt} and (${at} < ${v.beforeAt} or ${idOf(driver)} < ${v.beforeId})`;
}
