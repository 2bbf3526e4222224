import type { ReceiptRow, SessionPlaceRow, SessionRow } from '@tallystick/kit';
import type { StreamRound, StreamRow } from '@tallystick/receipts';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import { run, type Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';
import { table } from './table.ts';

/** An idempotency record as it is stored. */
export interface RecordRow {
  readonly scope: string;
  readonly requestHash: string;
  /** Id of the receipt whose body is the response. */
  readonly receiptId: string | null;
  /** The response where it is not a receipt. */
  readonly response: string | null;
  readonly expiresAt: number;
}

/** What an idempotency record answers to a repeated request. */
export interface Lookup {
  readonly requestHash: string;
  readonly response: string;
}

/** The statements about many receipts and idempotency records. All run inside a transaction. */
export interface ReceiptTables {
  /** Inserts the receipts whose id is free; each id comes once. Returns the ids of the inserted ones. */
  insertReceipts(rows: readonly StoredReceipt[]): Work<Set<string>>;
  /** Deletes the bodies of receipts that have expired at `now` (Unix seconds), and leaves the rest of them. Returns how many. */
  purgeReceipts(values: { readonly now: number; readonly limit: number }): Work<number>;
  /** Inserts the places that are free; each session comes once. Returns the sessions of the inserted ones. */
  takePlaces(places: readonly SessionPlaceRow[]): Work<Set<string>>;
  leavePlaces(places: readonly SessionPlaceRow[]): Work<unknown>;
  insertSessions(sessions: readonly SessionRow[]): Work<unknown>;
  /** Locks streams, and may first insert those that are missing; returns those that are there. */
  holdStreams(streams: readonly StreamRow[]): Work<StreamRow[]>;
  /** Locks the streams of these ids that there are, and returns them. */
  lockStreams(ids: readonly string[]): Work<StreamRow[]>;
  putStreams(streams: readonly StreamRow[]): Work<unknown>;
  addStreamRounds(rounds: readonly StreamRound[]): Work<unknown>;
  /** Inserts the records whose scope is free; each scope comes once. Returns the scopes of the inserted ones. */
  claimScopes(records: readonly RecordRow[]): Work<Set<string>>;
  releaseScopes(scopes: readonly string[]): Work<void>;
  /** The idempotency records by scope. */
  findRecords(scopes: readonly string[]): Work<Map<string, Lookup>>;
}

/** A receipt as it is stored. */
type StoredReceipt = Omit<ReceiptRow, 'body'> & {
  /** JSON text of the receipt; null once it is purged. */
  readonly body: string | null;
  readonly owner: string | null;
  readonly key: string | null;
};

const RECEIPTS = table<StoredReceipt>(
  'receipts',
  ['id'],
  {
    id: 'text',
    profile: 'text',
    tenant: 'text',
    body: 'text',
    issuedAt: 'integer',
    expiresAt: 'integer',
    owner: 'text',
    key: 'text',
  },
  { owner: 'owned_by', key: 'made_with' },
);

const PLACES = table<SessionPlaceRow>('session_places', ['session', 'seq'], {
  session: 'text',
  seq: 'integer',
  receiptId: 'text',
});

const SESSIONS = table<SessionRow>('sessions', ['id'], { id: 'text', owner: 'text', anchor: 'integer' });

const STREAMS = table<StreamRow>('streams', ['id'], {
  id: 'text',
  since: 'integer',
  size: 'integer',
  head: 'bytes',
});

const ROUNDS = table<StreamRound>('stream_rounds', ['stream', 'first'], {
  stream: 'text',
  first: 'integer',
  hashes: 'bytes',
});

const RECORDS = table<RecordRow>('idempotency', ['scope'], {
  scope: 'text',
  requestHash: 'text',
  receiptId: 'text',
  response: 'text',
  expiresAt: 'integer',
});

export function receiptTables(db: Compiler, bulk: Bulk, dialect: Dialect): ReceiptTables {
  const find = bulk.lookUp(
    RECORDS,
    'scope',
    (isOneOf) => sql<Lookup & { scope: string }>`
      select scope, request_hash as "requestHash", coalesce(response, body) as response
      from idempotency left join receipts on receipts.id = receipt_id
      where scope ${isOneOf}`,
  );
  return {
    insertReceipts: bulk.insertNew(RECEIPTS),
    purgeReceipts: purger(db, bulk, dialect),
    takePlaces: bulk.insertNew(PLACES),
    leavePlaces: bulk.removeEqual(PLACES),
    insertSessions: bulk.insert(SESSIONS),
    holdStreams: bulk.hold(STREAMS),
    lockStreams: bulk.lock(STREAMS),
    putStreams: bulk.insertOr(STREAMS, sql`update set size = excluded.size, head = excluded.head`),
    addStreamRounds: bulk.insert(ROUNDS),
    claimScopes: bulk.insertNew(RECORDS),
    releaseScopes: bulk.remove(RECORDS),
    *findRecords(scopes) {
      return new Map((yield* find(scopes)).map(({ scope, ...record }) => [scope, record]));
    },
  };
}

type Expired = { readonly now: number; readonly limit: number };

function purger(
  db: Compiler,
  bulk: Bulk,
  { soleWriter, skipLocked }: Dialect,
): ReceiptTables['purgeReceipts'] {
  const expired = (v: Expired) =>
    sql`select id from receipts where expires_at <= ${v.now} and body is not null order by expires_at limit ${v.limit} ${skipLocked}`;
  if (!soleWriter) {
    const empty = statement((v: Expired) =>
      raw(db, sql`update receipts set body = null where id in (${expired(v)})`),
    );
    return (values) => run(empty, values);
  }
  // SQLite joins pages that have become empty where rows are deleted, and not where they become smaller. New receipts go to other pages, so
  // the space of the bodies would be lost.
  const take = bulk.take(RECEIPTS, expired);
  const insert = bulk.insert(RECEIPTS);
  return function* (values) {
    const taken = yield* take(values);
    yield* insert(taken.map((receipt) => ({ ...receipt, body: null })));
    return taken.length;
  };
}
