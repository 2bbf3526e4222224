import { X402 } from '@tallystick/ledger';
import type {
  ListedReceipt,
  ReceiptCount,
  ReceiptCounting,
  ReceiptFilters,
  ReceiptOwner,
  ScannedReceipt,
} from '@tallystick/receipts';
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, type Statement, statement } from './statement.ts';

/** The values of the statements of pages. */
export interface ReceiptPageValues extends ReceiptFilters {
  readonly owner: string;
  readonly from: number;
  readonly beforeAt: number;
  readonly beforeId: string;
  readonly now: number;
  readonly limit: number;
}

/** A row whose amount is still text. */
export type ReadReceipt = Omit<ListedReceipt, 'cost'> & { readonly cost: string | null };

/** Filters for equality, the most selective ones first: their columns, and how many characters of them the index has, if not all. */
const FILTERS = [
  ['id', 'id', null],
  ['requestHash', 'request_hash', null],
  ['session', 'session', null],
  ['did', 'did', 100],
  ['key', 'key', null],
  ['model', 'model', 50],
  ['purpose', 'purpose', 50],
  ['provider', 'provider', 50],
  ['status', 'status', null],
  ['profile', 'profile', null],
] as const satisfies readonly (readonly [keyof ReceiptFilters, string, number | null])[];

type Equal = (typeof FILTERS)[number][0];

/** The condition that a query looks up in an index; all others are checked row by row. */
type Driver = Equal | 'tag' | 'cost' | 'costAlone' | 'time';

type ListDialect = Pick<Dialect, 'indexedBy'>;

/** Rows with a cost in the range from which on a page is read in the order of time rather than by cost. */
const MANY = 20_000;

/** The account that may list a row of `receipts` beside its `ledger_postings`. */
const OWNER = sql`coalesce(owned_by, 'tenant:' || tenant, nullif(ledger_postings.owner, ${sql.lit(X402)}))`;

const ROW = sql`
  receipt_list.id as id, receipt_list.owner as owner, receipt_list.at as at, profile, purpose, did, model, provider, status,
  key, request_hash as "requestHash", session, cast(cost as text) as cost, leaf_index as "leafIndex",
  expires_at as "expiresAt"`;

/** The statements of the lists of receipts, which all databases share. */
export function receiptListQueries(db: Compiler, dialect: ListDialect) {
  return {
    pagesOfReceipts: pageStatements(db, dialect),
    countsOfReceipts: countStatements(db, dialect),
    keptCountsOfReceipts: keptCounts(db, dialect),
    receiptsOfCost: statement((v: Pick<ReceiptPageValues, 'owner' | 'minCost' | 'maxCost'>) =>
      raw(
        db,
        sql<{ found: number }>`
          select count(*) as found from (
            select 1 from receipt_list where owner = ${v.owner} and ${costBetween(v)} limit ${sql.lit(MANY)}) as within`,
      ),
    ),
    ownerOfReceipt: statement((v: { id: string }) =>
      raw(
        db,
        sql<ReceiptOwner>`
          select ${OWNER} as owner, made_with as key
          from receipts left join ledger_postings on ledger_postings.id = receipts.id
          where receipts.id = ${v.id}`,
      ),
    ),
    scanReceipts: statement((v: { after: string; before: string; limit: number }) =>
      raw(
        db,
        sql<ScannedReceipt>`
          select stored.id as id, stored.profile as profile, stored.issued_at as "issuedAt", stored.expires_at as "expiresAt",
            case when listed.id is null then stored.owner end as owner,
            case when listed.id is null then stored.made_with end as key,
            case when listed.id is null and stored.owner is not null then stored.body end as body
          from (
            select receipts.id, profile, issued_at, expires_at, made_with, body,
              ${OWNER} as owner
            from receipts left join ledger_postings on ledger_postings.id = receipts.id
            where receipts.id > ${v.after} and receipts.id < ${v.before} order by receipts.id limit ${v.limit}) as stored
          left join receipt_list as listed on listed.id = stored.id
          order by stored.id`,
      ),
    ),
  };
}

/** Which index serves a page or a count. @param rare whether few receipts have a cost in the range */
export function driverOf(filters: ReceiptFilters, rare: boolean): Driver {
  const [equal] = FILTERS.find(([name]) => filters[name] !== null) ?? [];
  if (equal === 'id' || equal === 'requestHash' || equal === 'session') return equal;
  if (filters.tag !== null) return 'tag';
  // Answers that broke off are few.
  if (filters.status === 'error') return 'status';
  if (rare) return equal === undefined ? 'costAlone' : 'cost';
  return equal ?? 'time';
}

export function isMany(found: number): boolean {
  return found >= MANY;
}

type Statements<Values, Row> = Readonly<Record<Driver, Statement<Values, Row>>>;

/** A statement for each index. */
function byDriver<Values, Row>(make: (driver: Driver) => Statement<Values, Row>): Statements<Values, Row> {
  const drivers: Driver[] = ['time', 'tag', 'cost', 'costAlone', ...FILTERS.map(([name]) => name)];
  return Object.fromEntries(drivers.map((driver) => [driver, make(driver)])) as Record<
    Driver,
    Statement<Values, Row>
  >;
}

function countStatements(db: Compiler, dialect: ListDialect): Statements<ReceiptCounting, ReceiptCount> {
  return byDriver((driver) =>
    statement((v: ReceiptCounting) =>
      raw(
        db,
        sql<ReceiptCount>`
          select ${bucketOf(placeOf(driver).at, v)} as at, cast(count(*) as bigint) as receipts
          from ${sourceOf(driver, dialect)} and ${within(comparedTime(driver), v)}
            and ${sql.join(conditions(driver, v), sql` and `)}
          group by 1 order by 1 desc`,
      ),
    ),
  );
}

/** Sums of the counts that are kept, without the receipts that have expired since the last purge. */
function keptCounts(db: Compiler, { indexedBy }: ListDialect): Statement<ReceiptCounting, ReceiptCount> {
  const given = (v: ReceiptCounting) =>
    (['profile', 'purpose', 'provider', 'status', 'model', 'key'] as const).map(
      (name) => sql`(cast(${v[name]} as text) is null or ${sql.ref(name)} = ${v[name]})`,
    );
  return statement((v: ReceiptCounting) =>
    raw(
      db,
      sql<ReceiptCount>`
        select at, cast(sum(receipts) as bigint) as receipts from (
          select at, receipts from receipt_counts
          where owner = ${v.owner} and span = ${v.span} and at >= ${v.from} and at < ${v.to}
            and ${sql.join(given(v), sql` and `)}
          union all
          select ${bucketOf(sql`at`, v)} as at, -1 as receipts from receipt_list ${indexedBy('receipt_list_expiry')}
          where expires_at <= ${v.now} and owner = ${v.owner} and ${within(sql`at`, v)}
            and ${sql.join(given(v), sql` and `)}) as counted
        group by at having sum(receipts) > 0 order by at desc`,
    ),
  );
}

/** The beginning of the bucket of a time in Unix milliseconds, in Unix seconds. */
function bucketOf(at: RawBuilder<unknown>, { span }: ReceiptCounting): RawBuilder<unknown> {
  return sql`${at} / 1000 - ${at} / 1000 % cast(${span} as bigint)`;
}

function within(at: RawBuilder<unknown>, { from, to }: ReceiptCounting): RawBuilder<unknown> {
  return sql`${at} >= cast(${from} as bigint) * 1000 and ${at} < cast(${to} as bigint) * 1000`;
}

function pageStatements(db: Compiler, dialect: ListDialect): Statements<ReceiptPageValues, ReadReceipt> {
  return byDriver((driver) => {
    const { at, id } = placeOf(driver);
    const source = sourceOf(driver, dialect);
    const matching = (v: ReceiptPageValues) => {
      const time = comparedTime(driver);
      return sql`
        ${time} >= ${v.from} and ${time} <= ${v.beforeAt} and (${time} < ${v.beforeAt} or ${id} < ${v.beforeId})
        and ${sql.join(conditions(driver, v), sql` and `)}
        order by ${at} desc, ${id} desc limit ${v.limit}`;
    };
    if (driver !== 'costAlone')
      return statement((v: ReceiptPageValues) =>
        raw(db, sql<ReadReceipt>`select ${ROW} from ${source} and ${matching(v)}`),
      );
    // The index has all that the order needs: only the rows of the page are read.
    return statement((v: ReceiptPageValues) =>
      raw(
        db,
        sql<ReadReceipt>`
          select ${ROW} from (
            select at as place_at, id as place_id from ${source} and ${matching(v)}) as places
          join receipt_list on receipt_list.id = place_id
          order by place_at desc, place_id desc`,
      ),
    );
  });
}

/** The tables that a driver reads, in the order in which it reads them. */
function sourceOf(driver: Driver, { indexedBy }: ListDialect): RawBuilder<unknown> {
  if (driver === 'tag') return sql`call_tags cross join receipt_list where receipt_list.id = call_tags.id`;
  const isByCost = driver === 'cost' || driver === 'costAlone';
  return sql`receipt_list ${isByCost ? indexedBy('receipt_list_cost') : sql``} where true`;
}

/** The columns of the index that the rows are put in order by. */
function placeOf(driver: Driver): { at: RawBuilder<unknown>; id: RawBuilder<unknown> } {
  const name = driver === 'tag' ? 'call_tags' : 'receipt_list';
  return { at: sql.ref(`${name}.at`), id: sql.ref(`${name}.id`) };
}

/** The time as it is compared. Adding 0 keeps a database from taking another index than the driver's. */
function comparedTime(driver: Driver): RawBuilder<unknown> {
  const { at } = placeOf(driver);
  return driver === 'cost' || driver === 'costAlone' ? sql`${at} + 0` : at;
}

/** Owner and expiry, the driver's filter as its index has it, and of the others those that are given. */
function conditions(
  driver: Driver,
  v: ReceiptFilters & Pick<ReceiptPageValues, 'owner' | 'now'>,
): RawBuilder<unknown>[] {
  const owned = [sql`receipt_list.owner = ${v.owner}`, sql`expires_at + 0 > ${v.now}`];
  if (driver === 'costAlone') return [...owned, costBetween(v)];
  const equals = FILTERS.flatMap(([name, column, indexed]) => {
    const equal = sql`${sql.ref(`receipt_list.${column}`)} = ${v[name]}`;
    if (name !== driver) return sql`(cast(${v[name]} as text) is null or ${equal})`;
    if (indexed === null) return equal;
    const beginning = (text: RawBuilder<unknown>) => sql`substr(${text}, 1, ${sql.lit(indexed)})`;
    const given = sql`cast(${v[name]} as text)`;
    return [equal, sql`${beginning(sql.ref(`receipt_list.${column}`))} = ${beginning(given)}`];
  });
  return [...owned, ...equals, ...tagged(driver, v), ...priced(driver, v)];
}

function tagged(driver: Driver, v: ReceiptFilters & Pick<ReceiptPageValues, 'owner'>): RawBuilder<unknown>[] {
  if (driver === 'tag') return [sql`call_tags.owner = ${v.owner}`, sql`call_tags.tag = ${v.tag}`];
  return [
    sql`(cast(${v.tag} as text) is null or exists (
      select 1 from call_tags
      where call_tags.owner = receipt_list.owner and call_tags.tag = ${v.tag}
        and call_tags.at = receipt_list.at and call_tags.id = receipt_list.id))`,
  ];
}

function priced(driver: Driver, v: ReceiptFilters): RawBuilder<unknown>[] {
  if (driver === 'cost') return [costBetween(v)];
  return [
    sql`(cast(${v.minCost} as bigint) is null or cost + 0 >= ${v.minCost})`,
    sql`(cast(${v.maxCost} as bigint) is null or cost + 0 <= ${v.maxCost})`,
  ];
}

function costBetween(v: Pick<ReceiptFilters, 'minCost' | 'maxCost'>): RawBuilder<unknown> {
  const most = sql`coalesce(cast(${v.maxCost} as bigint), 9223372036854775807)`;
  return sql`cost >= coalesce(cast(${v.minCost} as bigint), 0) and cost <= ${most}`;
}
