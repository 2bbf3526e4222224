import type { Kysely } from 'kysely';
import type { Counters } from './counters.ts';
import type { Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import { type Committed, type Consume, consume, type Put, repeat } from './sql-database.ts';
import type { SqliteSession } from './sqlite-session.ts';
import { statement } from './statement.ts';
import type { PutOutcome, ReceiptRow } from './store.ts';

/** Group-committed writes: in process a statement costs little, so each row has its own. */
export function sqliteWrites(
  db: Kysely<Schema>,
  queries: Queries,
  counters: Counters,
  session: SqliteSession,
): (puts: readonly Put[], requests: readonly Consume[]) => Committed {
  const insertReceipt = statement((v: ReceiptRow) =>
    db
      .insertInto('receipts')
      .values({
        id: v.id,
        profile: v.profile,
        tenant: v.tenant,
        body: v.body,
        issued_at: v.issuedAt,
        expires_at: v.expiresAt,
      })
      .onConflict((conflict) => conflict.column('id').doNothing()),
  );
  function put({ row, idempotency }: Put): PutOutcome {
    if (idempotency !== undefined) {
      const [earlier] = session.all(queries.findRecord, idempotency);
      if (earlier !== undefined) return repeat(earlier, idempotency.requestHash);
    }
    if (session.run(insertReceipt, row) === 0) return { kind: 'id_taken' };
    if (idempotency !== undefined) {
      const expiresAt = Math.min(idempotency.expiresAt, row.expiresAt);
      session.run(queries.claimScope, { ...idempotency, expiresAt, receiptId: row.id, response: null });
    }
    return { kind: 'stored' };
  }

  return (puts, requests) => ({
    stored: puts.map(put),
    counted: session.perform(consume(counters, requests)),
  });
}
