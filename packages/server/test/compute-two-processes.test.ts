import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Routed, startRouted } from './compute.ts';

/** Two services with nothing in common but their PostgreSQL and their keys, as two processes are. */
let one: Routed;
let other: Routed;
beforeAll(async () => {
  one = await startRouted({ database: 'postgres' });
  const { database, keyring } = one.service.config;
  if (database.kind !== 'postgres') throw new Error('The service is on PostgreSQL.');
  other = await startRouted({ env: { TALLY_DATABASE_URL: database.url, TALLY_KEYRING: keyring.path } });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const spent = async () => -(await one.balance('development')).balance;
/** Of a call of `MODEL`. */
const PRICE = 6_300n;

describe('the same Idempotency-Key at two services on one database', () => {
  it('is charged once and has one answer', async () => {
    for (let round = 0; round < 10; round += 1) {
      const before = await spent();
      const headers = { 'idempotency-key': `two-${round}` };
      const replies = await Promise.all(
        [one, other, one, other].map((routed) => routed.chat({ user: `u-${round}` }, headers)),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(new Set(replies.map((reply) => reply.headers.get('x-receipt-id'))).size).toBe(1);
      expect(await spent()).toBe(before + PRICE);
    }
    // Each of the two asked the provider once a round at most.
    expect(one.upstream.requests.length + other.upstream.requests.length).toBeLessThanOrEqual(20);
    await one.expectBalanced();
  });

  it('charges one of two streams; the other ends without a receipt and says which one counts', async () => {
    const before = await spent();
    const headers = { 'idempotency-key': 'two-streams' };
    const streams = await Promise.all([one, other].map((routed) => routed.stream({}, headers)));
    const [kept, ...more] = streams.filter(({ svc }) => svc !== null);
    expect(more).toEqual([]);
    const receipt = kept?.svc?.receipt.receipt_id ?? '';
    const refused = streams.find((stream) => stream !== kept);
    // Or it was refused before it began, where the first one had ended by then.
    const end = refused?.status === 409 ? `already_answered ${receipt}` : (refused?.payloads.at(-1) ?? '');
    expect(end).toContain('already_answered');
    expect(end).toContain(receipt);
    expect(refused?.payloads).not.toContain('[DONE]');
    expect(await spent()).toBe(before + PRICE);
    await one.expectBalanced();
  });
});
