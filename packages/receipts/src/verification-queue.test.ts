import { afterEach, describe, expect, it } from 'vitest';
import { apiKey, expectProblem, startTestService, type TestService } from '../../server/test/service.ts';
import { createVerificationQueue, type VerificationSlot } from './verification-queue.ts';

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

const VERIFY = '/v1/receipt/verify';
const BATCH = '/v1/receipts/verify';

async function aReceipt(from: TestService): Promise<unknown> {
  return (await from.post('/v1/receipt/emit', { input: 'x' })).json;
}

describe('POST /v1/receipts/verify', () => {
  it('lets others have their turn between the receipts of a batch', async () => {
    service = await startTestService();
    const receipt = await aReceipt(service);
    const receipts = Array.from({ length: 500 }, () => receipt);
    const key = await apiKey(service, 'pro');
    const ended: string[] = [];
    const ask = async (name: string, path: string, body: unknown, headers = {}): Promise<void> => {
      const { status, text } = (await service?.post(path, body, headers)) ?? { status: 0, text: '' };
      expect(status, text).toBe(200);
      ended.push(name);
    };
    await Promise.all([
      ask('batch', BATCH, { receipts }),
      ask('batch of a key', BATCH, { receipts }, key),
      ask('key', VERIFY, receipt, key),
      ask('no key', VERIFY, receipt),
    ]);
    expect(ended.slice(0, 2).toSorted()).toEqual(['key', 'no key']);
  });

  it.each(['pro', 'scale', 'enterprise'] as const)('a %s key passes a full queue', async (tier) => {
    service = await startTestService();
    const receipt = await aReceipt(service);
    const { verificationQueue } = service.services;
    const waiting = Array.from({ length: 1_008 }, () => verificationQueue.second());
    const refused = await service.post(VERIFY, receipt);
    expectProblem(refused, 'unavailable');
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await service.post(VERIFY, receipt, await apiKey(service, tier))).status).toBe(200);
    for (const turn of waiting) (await turn).end();
    expect((await service.post(VERIFY, receipt)).status).toBe(200);
  });

  it('a revoked key, or one that is none, is told so', async () => {
    service = await startTestService();
    const receipt = await aReceipt(service);
    const unknown = { authorization: `Bearer k_pro_${'0'.repeat(32)}` };
    expectProblem(await service.post(VERIFY, receipt, unknown), 'api_key_invalid');
  });
});

describe('the second class', () => {
  it('has one turn at a time while the first class is in use, in the order of asking', async () => {
    let time = 0;
    const turns = createVerificationQueue(() => time);
    const order: number[] = [];
    turns.first().end();
    const asked = Array.from({ length: 5 }, async (_, number) => {
      const turn = await turns.second();
      order.push(number);
      return turn;
    });
    const taken: VerificationSlot[] = [];
    for (const one of asked) {
      taken.push(await one);
      expect(order).toHaveLength(taken.length);
      taken.at(-1)?.end();
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
    time += 1_001;
    await Promise.all(Array.from({ length: 8 }, () => turns.second()));
  });
});
