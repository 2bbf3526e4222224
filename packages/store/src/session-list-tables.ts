import type { NewCall } from '@tallystick/inference';
import type { ListedReceipt } from '@tallystick/receipts';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { SessionSums } from './session-list-rows.ts';
import { table } from './table.ts';

/** The end of the year 9999: calls are listed without an end. */
const NEVER = 253_402_300_799;
/** The ids of sessions that the service signs. An envelope may name anything in their place. */
const SIGNED = /^[0-9a-f]{32}$/;

const SESSIONS = table<SessionSums>('session_list', ['owner', 'key', 'id'], {
  owner: 'text',
  key: 'text',
  id: 'text',
  at: 'integer',
  lastAt: 'integer',
  calls: 'integer',
  errors: 'integer',
  receipts: 'integer',
  toolCalls: 'integer',
  cost: 'money',
  expiresAt: 'integer',
});

/** Adds sums to the sessions that are there, and inserts the others; each session and key comes once. */
export function sessionAdder(bulk: Bulk): (sums: readonly SessionSums[]) => Work<unknown> {
  const added = ['calls', 'errors', 'receipts', 'tool_calls', 'cost'].map(
    (name) => sql`${sql.ref(name)} = ${present(name)} + ${given(name)}`,
  );
  const chosen = (name: string, of: '<' | '>') =>
    sql`${sql.ref(name)} = case when ${given(name)} ${sql.raw(of)} ${present(name)} then ${given(name)} else ${present(name)} end`;
  const changes = [...added, chosen('at', '<'), chosen('last_at', '>'), chosen('expires_at', '>')];
  return bulk.insertOr(SESSIONS, sql`update set ${sql.join(changes)}`);
}

const present = (name: string) => sql.ref(`session_list.${name}`);
const given = (name: string) => sql.ref(`excluded.${name}`);

/** What new calls add to their sessions. */
export function sessionsOfCalls(calls: readonly NewCall[]): SessionSums[] {
  return sumsOf(calls, ({ errorCode, cost }) => ({
    calls: 1,
    errors: errorCode === null ? 0 : 1,
    receipts: 0,
    toolCalls: 0,
    cost,
    expiresAt: NEVER,
  }));
}

/** What new receipts add to the sessions that they are steps of. */
export function sessionsOfReceipts(receipts: readonly ListedReceipt[]): SessionSums[] {
  const steps = receipts.filter(({ session }) => session !== null && SIGNED.test(session));
  return sumsOf(steps, ({ purpose, cost, expiresAt }) => ({
    calls: 0,
    errors: 0,
    receipts: 1,
    toolCalls: purpose === 'tool_call' ? 1 : 0,
    cost: cost ?? 0n,
    expiresAt,
  }));
}

type Place = Pick<ListedReceipt, 'owner' | 'key' | 'session' | 'at'>;
type Counted = Omit<SessionSums, 'owner' | 'key' | 'id' | 'at' | 'lastAt'>;

/** Sums by session: of the owner, and of each key. */
function sumsOf<Row extends Place>(rows: readonly Row[], count: (row: Row) => Counted): SessionSums[] {
  const sums = new Map<string, SessionSums>();
  for (const row of rows) {
    const { owner, session: id, at } = row;
    if (id === null) continue;
    for (const key of row.key === null ? [''] : ['', row.key]) {
      const name = JSON.stringify([owner, key, id]);
      const one = { owner, key, id, at, lastAt: at, ...count(row) };
      const before = sums.get(name);
      sums.set(name, before === undefined ? one : together(before, one));
    }
  }
  return [...sums.values()];
}

function together(one: SessionSums, other: SessionSums): SessionSums {
  return {
    ...one,
    at: Math.min(one.at, other.at),
    lastAt: Math.max(one.lastAt, other.lastAt),
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    receipts: one.receipts + other.receipts,
    toolCalls: one.toolCalls + other.toolCalls,
    cost: one.cost + other.cost,
    expiresAt: Math.max(one.expiresAt, other.expiresAt),
  };
}
