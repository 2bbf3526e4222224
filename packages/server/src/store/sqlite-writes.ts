import type { Kysely } from 'kysely';
import type { Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import { type Committed, type Consume, countUp, type Put, repeat } from './sql-database.ts';
import type { SqliteSession } from './sqlite-session.ts';
import { statement } from './statement.ts';
import type { ConsumeOutcome, PutOutcome, ReceiptRow } from './store.ts';

/** Group-committed writes: in process a statement costs little, so each row has its own. */
export function sqliteWrites(
  db: Kysely<Schema>,
  queries: Queries,
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

  function consume(requests: readonly Consume[]): ConsumeOutcome[] {
    const before = new Map<string, number>();
    for (const { counter } of requests) {
      if (!before.has(counter)) before.set(counter, session.all(usedOf, { counter })[0]?.used ?? 0);
    }
    const after = new Map(before);
    const outcomes = countUp(requests, after);
    for (const { counter, expiresAt } of requests) {
      const used = after.get(counter);
      if (used === undefined || used === before.get(counter)) continue;
      session.run(setUsed, { counter, used, expiresAt });
      after.delete(counter);
    }
    return outcomes;
  }

  return (puts, requests) => ({ stored: puts.map(put), counted: consume(requests) });
}
