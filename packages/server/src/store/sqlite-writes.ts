import type { Kysely } from 'kysely';
import type { Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import { countUp, type Put, repeat, type SqlDatabase } from './sql-database.ts';
import type { SqliteSession } from './sqlite-session.ts';
import { statement } from './statement.ts';
import type { PutOutcome, ReceiptRow } from './store.ts';

type Writes = Pick<SqlDatabase<SqliteSession>, 'putReceipts' | 'consume'>;

/** Group-committed writes: in process a statement costs little, so each row has its own. */
export function sqliteWrites(db: Kysely<Schema>, queries: Queries): Writes {
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
  const usedOf = statement((v: { counter: string }) =>
    db.selectFrom('counters').select('used').where('counter', '=', v.counter),
  );
  const setUsed = statement((v: { counter: string; used: number; expiresAt: number }) =>
    db
      .insertInto('counters')
      .values({ counter: v.counter, used: v.used, expires_at: v.expiresAt })
      .onConflict((conflict) =>
        conflict.column('counter').doUpdateSet((row) => ({ used: row.ref('excluded.used') })),
      ),
  );

  function put(session: SqliteSession, { row, idempotency }: Put): PutOutcome {
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

  return {
    putReceipts: (session, puts) => puts.map((one) => put(session, one)),
    consume: (session, requests) => {
      const used = new Map<string, number>();
      for (const { counter } of requests) {
        if (!used.has(counter)) used.set(counter, session.all(usedOf, { counter })[0]?.used ?? 0);
      }
      const outcomes = countUp(requests, used);
      for (const { counter, expiresAt } of requests) {
        const count = used.get(counter);
        if (count === undefined) continue;
        session.run(setUsed, { counter, used: count, expiresAt });
        used.delete(counter);
      }
      return outcomes;
    },
  };
}
