import { expect, it } from 'vitest';
import { startTestService } from './service.ts';

it('a day’s registrations of an address have an end', async () => {
  const service = await startTestService({ env: { TALLY_FREE_MINT_PER_DAY: '3' } });
  const register = (name: string) =>
    service.post('/v1/compute/member/register', { did: `did:web:${name}.example` });
  for (const name of ['a', 'b', 'c']) expect((await register(name)).status).toBe(200);
  const refused = await register('d');
  expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await service.services.store.ledger.member('did:web:d.example')).toBeNull();
  service.clock.advance(86_400_000);
  expect((await register('d')).status).toBe(200);
  await service.close();
});
