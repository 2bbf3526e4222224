import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MODEL, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { DATABASES } from './service.ts';

/** Services with nothing in common but their database and their keys, as processes are. */
describe.each(DATABASES)('a model that rests, at two services on one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  beforeAll(async () => {
    one = await startRouted({ database });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      },
    });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  it('rests at the other soon, which has not asked its provider', async () => {
    expect((await other.chat()).status).toBe(200);
    const asked = other.upstream.requests.length;
    one.upstream.always({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
    expect((await one.chat()).status).toBe(429);
    const model = other.service.services.compute.pipeline.catalogue.find(MODEL);
    if (model === null) throw new Error('The catalogue has the model.');
    const isAvailable = () =>
      other.service.processes.some(({ compute }) => compute.pipeline.health.available(model));
    await vi.waitFor(() => expect(isAvailable()).toBe(false), { timeout: 60_000, interval: 20 });
    const named = await other.chat();
    expect([named.status, named.json['code']]).toEqual([503, 'no_model_available']);
    const routed = svcOf(await other.chat({ model: 'auto', messages, svc: { explain: true } }));
    expect(routed.routing).toMatchObject({
      outcome: {
        scores: expect.arrayContaining([
          expect.objectContaining({ model: MODEL, excluded: 'health' }),
        ]) as unknown,
      },
    });
    expect(other.upstream.requests).toHaveLength(asked + 1);
  });
});
