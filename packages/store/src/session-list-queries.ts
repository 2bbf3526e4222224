import type { ListedSession } from '@tallystick/receipts';
import { sql } from 'kysely';
import { type Compiler, raw, statement } from './statement.ts';

/** The values of the statement of a page. `key` is empty for all of the owner's. */
export interface SessionPageValues {
  readonly owner: string;
  readonly key: string;
  readonly from: number;
  readonly beforeAt: number;
  readonly beforeId: string;
  readonly now: number;
  readonly limit: number;
}

/** A row whose amount is still text. */
export type ReadSession = Omit<ListedSession, 'cost'> & { readonly cost: string };

/** The statements of the lists of sessions, which all databases share. */
export function sessionListQueries(db: Compiler) {
  return {
    pageOfSessions: statement((v: SessionPageValues) =>
      raw(
        db,
        sql<ReadSession>`
          select id, at, last_at as "lastAt", calls, errors, receipts, tool_calls as "toolCalls", cast(cost as text) as cost
          from session_list
          where owner = ${v.owner} and key = ${v.key} and at >= ${v.from} and at <= ${v.beforeAt}
            and (at < ${v.beforeAt} or id < ${v.beforeId}) and expires_at + 0 > ${v.now}
          order by at desc, id desc limit ${v.limit}`,
      ),
    ),
    purgeSessionList: statement((v: { now: number; limit: number }) =>
      raw(
        db,
        sql`delete from session_list where (owner, key, id) in (
          select owner, key, id from session_list where expires_at <= ${v.now} limit ${v.limit})`,
      ),
    ),
  };
}
