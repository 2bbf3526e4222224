import type { PutOutcome, ReceiptRow } from '@tallystick/kit';
import type { Kysely } from 'kysely';
import type { Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import { type Put, repeat, type SqlDatabase } from './sql-database.ts';
import { statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

/** Group-committed writes: in process a statement costs little, so each row has its own. */
export function sqliteWrites(db: Kysely<Schema>, queries: Queries): SqlDatabase['putReceipts'] {
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
  function* put({ row, idempotency }: Put): Work<PutOutcome> {
    if (idempotency !== undefined) {
      const [earlier] = yield* all(queries.findRecord, idempotency);
      if (earlier !== undefined) return repeat(earlier, idempotency.requestHash);
    }
    if ((yield* run(insertReceipt, row)) === 0) return { kind: 'id_taken' };
    if (idempotency !== undefined) {
      const expiresAt = Math.min(idempotency.expiresAt, row.expiresAt);
      const { response = null } = idempotency;
      yield* run(queries.claimScope, { ...idempotency, expiresAt, receiptId: row.id, response });
    }
    return { kind: 'stored' };
  }

  return function* (puts) {
    const outcomes: PutOutcome[] = [];
    for (const one of puts) outcomes.push(yield* put(one));
    return outcomes;
  };
}
