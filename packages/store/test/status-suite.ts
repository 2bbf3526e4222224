import type { StatusFinding } from '@tallystick/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, useDatabase } from './test-database.ts';

const NOW = Date.UTC(2027, 2, 1, 23, 58);
const MINUTE = 60_000;

/** The guarantees of {@link StatusHistoryStore}, to be kept by every adapter. */
export function statusSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the history of the status`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    let minute: number;
    beforeEach(async () => {
      store = await open();
      minute = 0;
    });

    const found = async (...states: readonly StatusFinding['state'][]) => {
      const changes: string[] = [];
      for (const state of states) {
        const findings = [
          { kind: 'endpoint', id: 'anchor', state, code: state === 'up' ? 'ok' : `${state}!` },
          { kind: 'model', id: 'anchor', state: 'up', code: 'ok' },
        ] as const;
        for (const { from, state: to } of await store.statusHistory.record(findings, NOW + minute * MINUTE))
          changes.push(`${from} ${to}`);
        minute += 1;
      }
      return changes;
    };
    const incidents = async () =>
      (await store.statusHistory.incidents(['endpoint'], 0, 9)).map(
        ({ startedAt, endedAt, state, code }) =>
          `${(startedAt - NOW) / MINUTE} ${endedAt === null ? '-' : (endedAt - NOW) / MINUTE} ${state} ${code}`,
      );

    it('by day', async () => {
      await found('up', 'down', 'unknown', 'degraded', 'down');
      const days = await store.statusHistory.days(['endpoint'], '2027-03-01');
      const subject = { kind: 'endpoint', id: 'anchor' };
      expect(days).toEqual([
        { ...subject, day: '2027-03-01', up: 1, degraded: 0, down: 1, unknown: 0 },
        { ...subject, day: '2027-03-02', up: 0, degraded: 1, down: 1, unknown: 1 },
      ]);
      expect(await store.statusHistory.days(['endpoint', 'model'], '2027-03-02')).toHaveLength(2);
      await store.statusHistory.purge('2027-03-02');
      expect(await store.statusHistory.days(['endpoint', 'model'], '2027-03-01')).toHaveLength(2);
    });

    it('and incidents, from the first fault to the end of the last', async () => {
      expect(await found('unknown', 'up', 'up')).toEqual([]);
      expect(await found('degraded', 'unknown', 'down', 'degraded')).toEqual([
        'up degraded',
        'degraded down',
        'down degraded',
      ]);
      expect(await incidents()).toEqual(['3 - down degraded!']);
      expect(await found('up', 'unknown', 'up')).toEqual(['degraded up']);
      expect(await found('down')).toEqual(['up down']);
      expect(await incidents()).toEqual(['10 - down down!', '3 7 down degraded!']);
      await store.statusHistory.purge('2027-03-03');
      expect(await incidents()).toEqual(['10 - down down!']);
    });
  });
}
