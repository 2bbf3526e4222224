import { afterEach, describe, expect, it } from 'vitest';
import { purgeExpired } from '../../receipts/src/retention.ts';
import { DATABASES, expectProblem, receiptIdOf, startTestService, type TestService } from './service.ts';

const DAY = 86_400_000;

describe.each(DATABASES)('retention on %s', (database) => {
  let service: TestService;
  afterEach(() => service.close());

  it.each([
    ['nano', '/v1/receipt/emit?profile=nano', 30],
    ['standard', '/v1/receipt/emit', 365],
    ['pq', '/v1/receipt/emit?profile=pq', 2557],
    ['the envelope', '/v1/receipt/free', 365],
  ])('%s is readable for its retention, then gone, and still verifies', async (_, path, days) => {
    service = await startTestService({ database });
    const body = path.endsWith('free') ? { input: 'x', purpose: 'p' } : { input: 'x' };
    const { text } = await service.post(path, body);
    const id = receiptIdOf(text);
    const purge = () => purgeExpired(service.services.store, service.clock());

    service.clock.advance(days * DAY - 1000);
    await purge();
    expect((await service.get(`/v1/receipt/${id}`)).text).toBe(text);
    service.clock.advance(1000);
    // Before the purge comes, too.
    expectProblem(await service.get(`/v1/receipt/${id}`), 'receipt_purged');
    expect(await purge()).toBe(1);
    expectProblem(await service.get(`/v1/receipt/${id}`), 'receipt_purged');
    await service.restart();
    expectProblem(await service.get(`/v1/receipt/${id}`), 'receipt_purged');
    expect((await service.post('/v1/receipt/verify', text)).json).toMatchObject({ valid: true });
  });

  it('a start deletes what expired while the service was down', async () => {
    service = await startTestService({ database });
    const { text } = await service.post('/v1/receipt/emit?profile=nano', { input: 'x' });
    service.clock.advance(31 * DAY);
    await service.restart();
    expectProblem(await service.get(`/v1/receipt/${receiptIdOf(text)}`), 'receipt_purged');
  });

  it('more than one batch goes, and nothing that is still kept', async () => {
    service = await startTestService({ database });
    const emit = (profile: string) => service.post(`/v1/receipt/emit?profile=${profile}`, { input: 'x' });
    const kept = await emit('standard');
    await Promise.all(Array.from({ length: 1100 }, () => emit('nano')));
    service.clock.advance(31 * DAY);
    expect(await purgeExpired(service.services.store, service.clock())).toBe(1100);
    expect(await purgeExpired(service.services.store, service.clock())).toBe(0);
    expect((await service.get(`/v1/receipt/${receiptIdOf(kept.text)}`)).text).toBe(kept.text);
  });
});
