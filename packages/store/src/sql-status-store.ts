import type { Incident, StatusChange, StatusDay, StatusFinding, StatusHistoryStore } from '@tallystick/kit';
import { all, run, type Work } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { StateRow } from './status-tables.ts';

/** A {@link StatusHistoryStore} on a SQL database. */
export class SqlStatusStore implements StatusHistoryStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  record(findings: readonly StatusFinding[], now: number): Promise<StatusChange[]> {
    return this.#database.transaction(() => record(this.#database, findings, now));
  }

  async days(...[kinds, from]: Parameters<StatusHistoryStore['days']>): Promise<StatusDay[]> {
    const { queries, read } = this.#database;
    const found = await Promise.all(kinds.map((kind) => read(all(queries.statusDays, { kind, from }))));
    return found.flat() as StatusDay[];
  }

  async incidents(...[kinds, from, limit]: Parameters<StatusHistoryStore['incidents']>): Promise<Incident[]> {
    const { queries, read } = this.#database;
    const found = await Promise.all(
      kinds.map((kind) => read(all(queries.statusIncidents, { kind, from, limit }))),
    );
    const newest = (found.flat() as Incident[]).toSorted((a, b) => b.startedAt - a.startedAt);
    return newest.slice(0, limit);
  }

  purge(before: string): Promise<void> {
    return this.#database.transaction(() => purge(this.#database, before), 'relaxed');
  }
}

function* record(
  { queries, statusTables }: SqlDatabase,
  findings: readonly StatusFinding[],
  now: number,
): Work<StatusChange[]> {
  const day = new Date(now).toISOString().slice(0, 10);
  yield* statusTables.addDays(findings.map(({ kind, id, state }) => ({ ...ONE[state], kind, id, day })));
  const before = new Map((yield* all(queries.statusStates, {})).map((row) => [keyOf(row), row as StateRow]));
  const changes: StatusChange[] = [];
  for (const finding of findings) {
    const last = before.get(keyOf(finding));
    const from = (last?.state ?? 'unknown') as StatusFinding['state'];
    if (finding.state === from || finding.state === 'unknown') continue;
    const startedAt = yield* follow({ queries }, finding, last?.startedAt ?? null, now);
    yield* run(queries.putStatusState, { ...finding, startedAt });
    if (from !== 'unknown' || startedAt !== null) changes.push({ ...finding, from });
  }
  return changes;
}

/** Begins, worsens or ends the incident of a subject. Returns when the open one began, or null. */
function* follow(
  { queries }: Pick<SqlDatabase, 'queries'>,
  { kind, id, state, code }: StatusFinding,
  startedAt: number | null,
  now: number,
): Work<number | null> {
  if (state === 'up') {
    if (startedAt !== null) yield* run(queries.endIncident, { kind, id, startedAt, endedAt: now });
    return null;
  }
  if (startedAt === null) {
    yield* run(queries.beginIncident, { kind, id, startedAt: now, state, code });
    return now;
  }
  if (state === 'down') yield* run(queries.worsenIncident, { kind, id, startedAt, state });
  return startedAt;
}

function* purge({ queries }: SqlDatabase, before: string): Work<void> {
  yield* run(queries.purgeStatusDays, { before });
  yield* run(queries.purgeIncidents, { before: Date.parse(before) });
}

const NONE = { up: 0, degraded: 0, down: 0, unknown: 0 };
const ONE = {
  up: { ...NONE, up: 1 },
  degraded: { ...NONE, degraded: 1 },
  down: { ...NONE, down: 1 },
  unknown: { ...NONE, unknown: 1 },
};

const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} ${id}`;
