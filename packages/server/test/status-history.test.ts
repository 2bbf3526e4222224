import { afterEach, describe, expect, it } from 'vitest';
import { recordStatus } from '../src/status/history.ts';
import { apiKey, DATABASES, expectProblem, startTestService, type TestService } from './service.ts';

let service: TestService;
afterEach(() => service.close());

const DAY = 86_400_000;

interface Told {
  readonly from: string;
  readonly to: string;
  readonly subjects: {
    kind: string;
    id: string;
    uptime: number | null;
    days: { day: string; up: number }[];
  }[];
  readonly incidents: Record<string, unknown>[];
}

const history = async (query = ''): Promise<Told> =>
  (await service.get(`/v1/status/history${query}`)).json as unknown as Told;

describe.each(DATABASES)('the history of the status on %s', (database) => {
  it('counts each round, by day, for as many days as are asked for', async () => {
    service = await startTestService({ database });
    await service.services.status.round();
    service.clock.advance(60_000);
    await service.services.status.round();
    service.clock.advance(DAY);
    await service.services.status.round();
    const told = await history();
    expect([told.from, told.to]).toEqual(['2026-12-03', '2027-03-02']);
    const pricing = told.subjects.find(({ id }) => id === 'pricing');
    expect(pricing).toMatchObject({ kind: 'endpoint', uptime: 1 });
    expect(pricing?.days).toMatchObject([
      { day: '2027-03-01', up: 2, degraded: 0, down: 0, unknown: 0, uptime: 1 },
      { day: '2027-03-02', up: 1 },
    ]);
    expect(new Set(told.subjects.map(({ kind }) => kind))).toEqual(new Set(['endpoint', 'provider']));
    expect((await history('?days=1&kind=model')).subjects[0]?.days).toHaveLength(1);
    expectProblem(await service.get('/v1/status/history?days=91'), 'invalid_field', 'days');
    expectProblem(await service.get('/v1/status/history?kind=log'), 'invalid_field', 'kind');
  });

  it('tells of incidents, and webhooks of each change', async () => {
    service = await startTestService({ database });
    const { store } = service.services;
    const owner = await apiKey(service, 'pro');
    const events = ['status.changed'];
    const made = await service.post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events }, owner);
    const round = async (sequence: number, state: 'up' | 'down') => {
      const findings = [
        { kind: 'provider', id: 'acme', state, code: state === 'up' ? 'ok' : 'timeout' },
      ] as const;
      await recordStatus(store, { findings, sequence, at: service.clock() });
      service.clock.advance(60_000);
    };
    await round(1, 'up');
    await round(2, 'down');
    await round(3, 'down');
    await round(4, 'up');
    const told = await history();
    expect(told.subjects).toMatchObject([{ kind: 'provider', id: 'acme', uptime: 0.5 }]);
    expect(told.incidents).toEqual([
      {
        kind: 'provider',
        id: 'acme',
        state: 'down',
        code: 'timeout',
        started_at: '2027-03-01T12:01:00.250Z',
        ended_at: '2027-03-01T12:03:00.250Z',
      },
    ]);
    const deliveries = await service.get(
      `/v1/webhooks/${(made.json as unknown as { id: string }).id}/deliveries`,
      owner,
    );
    expect(deliveries.json).toMatchObject({
      data: [
        { message: { type: 'status.changed', data: { changes: [{ id: 'acme', from: 'down', to: 'up' }] } } },
        { message: { data: { sequence: 2, changes: [{ from: 'up', to: 'down', code: 'timeout' }] } } },
      ],
    });
  });
});
