import type { ContentRow } from '@tallystick/inference';
import { sql } from 'kysely';
import { type Compiler, raw, statement } from './statement.ts';

/** The statements about what callers have kept of their calls, which all databases share. */
export function contentQueries(db: Compiler) {
  return {
    insertContent: statement((v: ContentRow) =>
      db
        .insertInto('call_contents')
        .values({ id: v.id, owner: v.owner, key: v.key, expires_at: v.expiresAt, sealed: v.sealed })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    contentOf: statement((v: { owner: string; id: string }) =>
      db
        .selectFrom('call_contents')
        .select(['id', 'owner', 'key', 'expires_at as expiresAt', 'sealed'])
        .where('id', '=', v.id)
        .where('owner', '=', v.owner),
    ),
    removeContent: statement((v: { owner: string; id: string }) =>
      db.deleteFrom('call_contents').where('id', '=', v.id).where('owner', '=', v.owner),
    ),
    purgeContents: statement((v: { now: number; limit: number }) =>
      raw(
        db,
        sql`delete from call_contents where id in (
          select id from call_contents where expires_at <= ${v.now} limit ${v.limit})`,
      ),
    ),
  };
}
