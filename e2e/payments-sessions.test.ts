import { readSessionReceipt, type SessionHead } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, toReply } from '../packages/server/test/service.ts';
import { call, openThrough, requestOf, SERVER, through } from '../packages/server/test/sessions.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { type Payer, payer } from './payer.ts';

/** Of a standard receipt, in base units. */
let price: bigint;
let service: PaidService;
let alice: Payer;
let bob: Payer;

beforeAll(async () => {
  service = await startPaidService({ TALLY_LOG_LEVEL: 'error' });
  // By `exact`, each payment moves on the chain at once.
  alice = payer('alice', service.money.rpcUrl, { schemes: ['exact'] });
  bob = payer('bob', service.money.rpcUrl, { schemes: ['exact'] });
  const offer = await post(fetch, '/v1/sessions', { session_id: 'e'.repeat(32), salt_commitment: SHA });
  const { accepts } = offer.json['payment'] as unknown as { accepts: { scheme: string; amount: string }[] };
  price = BigInt(accepts.find(({ scheme }) => scheme === 'exact')?.amount ?? 0);
});
afterAll(() => service.close());

const SHA = `sha256:${'b'.repeat(64)}`;

async function post(over: typeof fetch, path: string, body: object): Promise<Reply> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  return toReply(await over(`${service.url}${path}`, init));
}

const paying = ({ fetch: over }: Pick<Payer, 'fetch'>) =>
  through({ post: (path, body) => post(over, path, body as object) });

const paid = async (): Promise<bigint> => service.usdc(service.money.treasury);

/** Asks for the receipt of a tool call. */
function add(who: Pick<Payer, 'fetch'>, { id, seq, hash }: SessionHead, tool: string): Promise<Reply> {
  const session = { id, seq: String(seq + 1), prev: hash };
  const entry = {
    call: { kind: 'tool' as const, tool, server: SERVER, outcome: 'completed' as const, session },
    purpose: 'tool_call' as const,
    request: SHA,
    response: null,
  };
  return post(who.fetch, ...requestOf(entry));
}

describe('a session that a wallet pays for', () => {
  it('costs the price of a receipt each, and names the transactions', async () => {
    const before = await paid();
    const recorder = await openThrough(paying(alice));
    const receipt = JSON.parse(await recorder.tool(call('read'))) as { settlement: object };
    await recorder.close();
    expect(receipt.settlement).toMatchObject({ chain: 'eip155:31337', asset: 'USDC' });
    expect(receipt.settlement).toHaveProperty('tx', expect.stringMatching(/^0x[0-9a-f]{64}$/));
    expect(await paid()).toBe(before + 3n * price);
    await service.expectLedgerIsChain();
  });

  it('gets nothing added without a payment, or by another wallet, which is not charged', async () => {
    const { head } = await openThrough(paying(alice));
    const before = await paid();
    const unpaid = await add({ fetch }, head, 'read');
    expect([unpaid.status, unpaid.json['code']]).toEqual([402, 'payment_required']);
    const stranger = await add(bob, head, 'read');
    expect([stranger.status, stranger.json['code']]).toEqual([404, 'session_not_found']);
    expect(await paid()).toBe(before);
    expect((await add(alice, head, 'read')).status).toBe(201);
  });

  it('is not charged again for the same receipt, nor for one that is not the next', async () => {
    const { head } = await openThrough(paying(alice));
    const first = await add(alice, head, 'read');
    expect(first.status, first.text).toBe(201);
    const before = await paid();
    const again = await add(alice, head, 'read');
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await add(alice, head, 'write')).json['code']).toBe('session_conflict');
    expect(await paid()).toBe(before);
  });

  it('is charged once for a place that many ask for at once', async () => {
    const { head } = await openThrough(paying(alice));
    const before = await paid();
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((tool) => add(alice, head, tool)));
    const [signed, ...others] = replies.toSorted((one, other) => one.status - other.status);
    expect(readSessionReceipt(signed?.text ?? '').call.session.seq).toBe('1');
    expect(others.map(({ json }) => json['code'])).toEqual(Array(3).fill('session_conflict'));
    expect(await paid()).toBe(before + price);
    await service.expectLedgerIsChain();
  });
});
