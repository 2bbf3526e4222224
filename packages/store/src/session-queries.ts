import { sql } from 'kysely';
import { type Compiler, statement } from './statement.ts';

export function sessionQueries(db: Compiler) {
  const steps = db
    .selectFrom('session_places')
    .innerJoin('receipts', 'receipts.id', 'session_places.receipt_id')
    .select(['seq', 'body', 'expires_at as expiresAt']);
  return {
    newestOfSession: statement((v: { id: string }) =>
      steps
        .innerJoin('sessions', 'sessions.id', 'session_places.session')
        .select(['sessions.id as id', 'owner', 'anchor', 'owned_by as account'])
        .where('session', '=', v.id)
        .orderBy('seq', 'desc')
        .limit(sql.lit(1)),
    ),
    stepOfSession: statement((v: { id: string; seq: number }) =>
      steps.where('session', '=', v.id).where('seq', '=', v.seq),
    ),
    pageOfSession: statement((v: { id: string; after: number; now: number; limit: number }) =>
      db
        .selectFrom('session_places')
        .innerJoin('receipts', 'receipts.id', 'session_places.receipt_id')
        .select(['seq', sql<string>`body`.as('body')])
        .where('session', '=', v.id)
        .where('seq', '>', v.after)
        .where('body', 'is not', null)
        .where('expires_at', '>', v.now)
        .orderBy('seq')
        .limit(v.limit),
    ),
  };
}
