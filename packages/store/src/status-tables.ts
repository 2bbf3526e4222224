import type { Incident, StatusDay, StatusSubject } from '@tallystick/kit';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import { type Compiler, statement } from './statement.ts';
import { table } from './table.ts';

/** The state that a subject was found in last. */
export interface StateRow extends StatusSubject {
  readonly state: string;
  /** When its open incident began; null where there is none. Unix milliseconds. */
  readonly startedAt: number | null;
}

/** The statements about many rows of the status's history. */
export interface StatusTables {
  addDays(days: readonly StatusDay[]): Work<unknown>;
}

const DAYS = table<StatusDay>('status_days', ['kind', 'id', 'day'], {
  kind: 'text',
  id: 'text',
  day: 'text',
  up: 'integer',
  degraded: 'integer',
  down: 'integer',
  unknown: 'integer',
});

export function statusTables(bulk: Bulk): StatusTables {
  return { addDays: bulk.add(DAYS) };
}

export function statusQueries(db: Compiler) {
  const incidents = db
    .selectFrom('status_incidents')
    .select(['kind', 'id', 'started_at as startedAt', 'ended_at as endedAt', 'state', 'code']);
  return {
    statusStates: statement(() =>
      db.selectFrom('status_states').select(['kind', 'id', 'state', 'started_at as startedAt']),
    ),
    putStatusState: statement((v: StateRow) =>
      db
        .insertInto('status_states')
        .values({ kind: v.kind, id: v.id, state: v.state, started_at: v.startedAt })
        .onConflict((conflict) =>
          conflict.columns(['kind', 'id']).doUpdateSet((row) => ({
            state: row.ref('excluded.state'),
            started_at: row.ref('excluded.started_at'),
          })),
        ),
    ),
    beginIncident: statement((v: Omit<Incident, 'endedAt'>) =>
      db
        .insertInto('status_incidents')
        .values({ kind: v.kind, id: v.id, started_at: v.startedAt, state: v.state, code: v.code })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    worsenIncident: statement((v: Pick<Incident, 'kind' | 'id' | 'startedAt' | 'state'>) =>
      db
        .updateTable('status_incidents')
        .set({ state: v.state })
        .where('kind', '=', v.kind)
        .where('id', '=', v.id)
        .where('started_at', '=', v.startedAt),
    ),
    endIncident: statement((v: StatusSubject & { startedAt: number; endedAt: number }) =>
      db
        .updateTable('status_incidents')
        .set({ ended_at: v.endedAt })
        .where('kind', '=', v.kind)
        .where('id', '=', v.id)
        .where('started_at', '=', v.startedAt),
    ),
    statusDays: statement((v: { kind: string; from: string }) =>
      db
        .selectFrom('status_days')
        .select(['kind', 'id', 'day', 'up', 'degraded', 'down', 'unknown'])
        .where('kind', '=', v.kind)
        .where('day', '>=', v.from)
        .orderBy('kind')
        .orderBy('id')
        .orderBy('day'),
    ),
    statusIncidents: statement((v: { kind: string; from: number; limit: number }) =>
      incidents
        .where('kind', '=', v.kind)
        .where((row) => row.or([row('ended_at', 'is', null), row('ended_at', '>=', v.from)]))
        .orderBy('started_at', 'desc')
        .orderBy('id')
        .limit(v.limit),
    ),
    purgeStatusDays: statement((v: { before: string }) =>
      db.deleteFrom('status_days').where('day', '<', v.before),
    ),
    purgeIncidents: statement((v: { before: number }) =>
      db.deleteFrom('status_incidents').where('ended_at', '<', v.before),
    ),
  };
}
