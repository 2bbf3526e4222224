import { TallyError } from '@tallystick/core';
import { PERMIT2_ADDRESS } from '@x402/evm';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CHAT, MODEL, messages, payloadsOf, type Svc } from '../packages/server/test/compute.ts';
import { sendCall, sendUsdc } from '../packages/server/test/usdc.ts';
import { startFacilitator, type TestFacilitator } from './facilitator.ts';
import { expectVerifiedByRpc, type PaidService, startPaidService } from './paid-service.ts';
import { type Payer, payer, settlementOf } from './payer.ts';

const REFUSED = {
  success: false,
  errorReason: 'insufficient_funds',
  transaction: '',
  network: 'eip155:31337',
} as const;

const DID = 'did:key:z6Mkn5UEUh9ZZG6w5BYTJgaEv2VrqKaVtqTscJD8KeEq6E8b';
const AWAY = new TallyError('unavailable', 'The database cannot be written at the moment.');

let facilitator: TestFacilitator;
let service: PaidService;
let alice: Payer;
let bob: Payer;

beforeAll(async () => {
  facilitator = await startFacilitator();
  service = await startPaidService({
    TALLY_X402_FACILITATOR: facilitator.url,
    TALLY_X402_WAIT_SECONDS: '1',
  });
  facilitator.use(service.money.rpcUrl);
  alice = payer('alice', service.money.rpcUrl, { schemes: ['batch-settlement'], deposit: 1_000_000n });
  bob = payer('bob', service.money.rpcUrl, { schemes: ['upto'] });
  await allowPermit2('bob', service.money.rpcUrl);
});
beforeEach(() => facilitator.behave((settle) => settle()));
afterAll(async () => {
  await service.close();
  await facilitator.close();
});

function chat(
  { fetch }: { fetch: typeof globalThis.fetch },
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(service.url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: MODEL, messages, max_completion_tokens: 50, ...body }),
  });
}

type Paid = Svc & { readonly payment?: { extra: { chargedAmount: string } } };

function lastSvc(stream: string): Paid | null {
  const last = payloadsOf(stream).findLast((payload) => payload.includes('"svc"'));
  return last === undefined ? null : (JSON.parse(last) as { svc: Paid }).svc;
}

async function promised(): Promise<bigint> {
  const { ledger } = service.service.services.store;
  return -(await ledger.balance(`promised:${service.money.token.network}`)).balance;
}

/** As every payer by Permit2 does once. */
async function allowPermit2(name: 'alice' | 'bob', rpcUrl: string): Promise<void> {
  const abi = parseAbi(['function approve(address spender, uint256 amount) returns (bool)']);
  const args = [PERMIT2_ADDRESS, 2n ** 256n - 1n] as const;
  await sendCall(rpcUrl, name, encodeFunctionData({ abi, functionName: 'approve', args }));
}

/** Has no process write this of a payment, until the returned function is called. */
function withoutDatabase(...writes: ('begin' | 'deleteChannel')[]): () => void {
  const spies = service.service.processes.flatMap(({ store: { payments } }) =>
    writes.map((write) => vi.spyOn(payments, write).mockRejectedValue(AWAY)),
  );
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

async function open() {
  const rows = await service.service.services.store.payments.openOf(alice.address.toLowerCase());
  return rows.filter(({ state }) => state === 'serving');
}

describe('a call by voucher', () => {
  it('that is cut half-way is charged for what came', async () => {
    service.upstream.play({ fault: { kind: 'cut', after: 3 } });
    const response = await chat(alice, { stream: true });
    const svc = lastSvc(await response.text());
    expect(svc?.receipt.call).toMatchObject({ complete: false, usage_estimated: true });
    // Three of the seven pieces came.
    expect(Number(svc?.receipt.call['completion_tokens'])).toBeLessThan(8);
    const billed = BigInt(svc?.billing.charge.nano ?? 0);
    expect(billed).toBeGreaterThan(0n);
    const charged = BigInt(svc?.payment?.extra.chargedAmount ?? -1);
    expect(charged).toBe((billed + 999n) / 1_000n);
    expect(await promised()).toBe(charged * 1_000n);
    await service.expectLedgerIsChain();
  });

  it('whose client leaves is charged for what came, and not more', async () => {
    const before = await promised();
    service.upstream.play({ fault: { kind: 'stall', after: 2 } });
    const leaving = new AbortController();
    const response = await chat(
      { fetch: (url, init) => alice.fetch(url, { ...init, signal: leaving.signal }) },
      { stream: true },
    );
    const reader = response.body?.getReader();
    await reader?.read();
    const hungUp = service.upstream.hungUp();
    leaving.abort();
    await hungUp;
    await expect.poll(async () => (await open()).length).toBe(0);
    const charged = (await promised()) - before;
    expect(charged).toBeGreaterThan(0n);
    expect(charged).toBeLessThanOrEqual(7_000n);
    await service.expectLedgerIsChain();
  });

  it('that the provider fails costs nothing, and the payer can go on', async () => {
    const before = await promised();
    const refusal = { kind: 'status', status: 400 } as const;
    service.upstream.always({ fault: refusal });
    const failed = await chat(alice);
    expect(failed.status, await failed.clone().text()).toBe(400);
    expect(await promised()).toBe(before);
    service.upstream.always({});
    const response = await chat(alice);
    expect(response.status, await response.clone().text()).toBe(200);
    await service.payments.collect();
    expect(await promised()).toBe(0n);
    await service.expectLedgerIsChain();
  });
});

describe('a call by upto', () => {
  it('is settled for what it cost, and the settlement has a receipt that names the call’s', async () => {
    const before = await service.usdc(bob.address);
    const response = await chat(bob);
    const answer = (await response.json()) as { svc: Paid };
    expect(response.status, JSON.stringify(answer)).toBe(200);
    const { transaction, amount } = settlementOf(response);
    expect(amount).toBe('7');
    expect(await service.usdc(bob.address)).toBe(before - 7n);
    const { receipt } = answer.svc;
    expect(receipt.settlement).toMatchObject({ chain: 'eip155:31337', tx: null, account: 'x402' });
    const linked = await settlementReceipt(response);
    expect(linked['settlement']).toMatchObject({
      tx: transaction,
      chain: 'eip155:31337',
      asset: 'USDC',
      amount: '0.000007',
      payment: receipt.settlement['payment'],
      receipt_id: receipt.receipt_id,
    });
    await expectVerifiedByRpc(service, JSON.stringify(linked));
    await service.expectLedgerIsChain();
  });

  it('that can’t be settled after its delivery is owed: one call, and no other until it is paid', async () => {
    const before = await service.usdc(bob.address);
    facilitator.behave(async () => REFUSED);
    const delivered = await chat(bob);
    expect(delivered.status).toBe(200);
    expect(settlementOf(delivered)).toMatchObject({ success: false, transaction: '' });
    expect(await service.usdc(bob.address)).toBe(before);
    const { receipt } = ((await delivered.json()) as { svc: Paid }).svc;
    const asked = service.upstream.requests.length;
    for (const stream of [false, true]) {
      const refused = await chat(bob, { stream });
      expect(refused.status).toBe(402);
      const problem = (await refused.json()) as { code: string; detail: string };
      expect(problem).toMatchObject({ code: 'payment_owed' });
      expect(problem.detail).toContain(receipt.receipt_id);
    }
    expect(service.upstream.requests.length).toBe(asked);
    await service.expectLedgerIsChain();

    facilitator.behave((settle) => settle());
    const response = await chat(bob);
    expect(response.status, await response.clone().text()).toBe(200);
    // Each call is billed 6.3 base units; of three that is 18.9, and what was rounded up is carried on.
    expect(await service.usdc(bob.address)).toBe(before - 12n);
    await service.expectLedgerIsChain();
  });

  it('in two at once is one', async () => {
    const before = await service.usdc(bob.address);
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>();
    service.upstream.play({ fault: { kind: 'held', until } });
    const calls = [chat(bob), chat(bob, { messages: [{ role: 'user', content: 'b' }] })];
    // One is refused while the other is under way.
    await Promise.race(calls);
    letGo();
    const responses = await Promise.all(calls);
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 409]);
    expect(before - (await service.usdc(bob.address))).toBeLessThanOrEqual(7n);
    await service.expectLedgerIsChain();
  });

  it('is not settled by a transfer that has bought something else meanwhile', async () => {
    const carol = payer('alice', service.money.rpcUrl, { schemes: ['upto'] });
    await allowPermit2('alice', service.money.rpcUrl);
    const before = await service.usdc(carol.address);
    const { store } = service.service.services;
    const owned = await store.ledger.balance(`caller:${DID}`);
    const { promise: until, resolve: letGo } = Promise.withResolvers<void>();
    service.upstream.play({ fault: { kind: 'held', until } });
    const call = chat(carol);
    await vi.waitFor(async () => expect(await open()).toHaveLength(1), 5_000);
    const { rpcUrl, treasury } = service.money;
    await sendUsdc(rpcUrl, 'alice', { to: treasury, amount: 7n, memo: `account=${DID}` });
    await service.service.services.treasury?.watch();
    expect(await store.ledger.balance(`caller:${DID}`)).toMatchObject({ balance: owned.balance + 7_000n });
    letGo();
    const response = await call;
    expect(response.status, await response.clone().text()).toBe(200);
    expect(settlementOf(response)).toMatchObject({ success: true, amount: '7' });
    expect(await service.usdc(carol.address)).toBe(before - 14n);
    await service.expectLedgerIsChain();
  });

  it('that the provider fails may be repeated with its Idempotency-Key', async () => {
    service.upstream.play({ fault: { kind: 'status', status: 400 } as const });
    const key = { 'idempotency-key': 'call-of-the-failed-one' };
    expect((await chat(bob, {}, key)).status).toBeGreaterThanOrEqual(400);
    const response = await chat(bob, {}, key);
    expect(response.status, await response.clone().text()).toBe(200);
    await service.expectLedgerIsChain();
  });

  it('that could not be begun leaves the payer free for the next', async () => {
    const restore = withoutDatabase('begin');
    expect((await chat(bob)).status).toBe(503);
    restore();
    const response = await chat(bob);
    expect(response.status, await response.clone().text()).toBe(200);
  });

  async function settlementReceipt(response: Response): Promise<Record<string, unknown>> {
    const id = response.headers.get('x-settlement-receipt-id') ?? '';
    const read = await fetch(`${service.url}/v1/receipt/${id}`);
    expect(read.status).toBe(200);
    return (await read.json()) as Record<string, unknown>;
  }
});

describe('a call', () => {
  it('whose process ends in its middle is brought to its end by the next one, and costs nothing', async () => {
    const before = await promised();
    // As far as its process gets with it.
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const ends = (): Promise<never> => {
      resolve();
      return new Promise(() => {});
    };
    const spies = service.service.processes.map(({ store: { ledger } }) =>
      vi.spyOn(ledger, 'reserve').mockImplementation(ends),
    );
    const leaving = new AbortController();
    void chat({ fetch: (url, init) => alice.fetch(url, { ...init, signal: leaving.signal }) }).catch(
      () => {},
    );
    await reached;
    for (const spy of spies) spy.mockRestore();
    expect(await promised()).toBeGreaterThan(before);
    expect((await open()).length).toBe(1);
    await service.payments.sweep();
    expect((await open()).length, 'while its lease lasts').toBe(1);
    // From here on receipts are of the future.
    service.clock.advance(3_600_000);
    await service.payments.sweep();
    expect((await open()).length).toBe(0);
    expect(await promised()).toBe(before);
    leaving.abort();
    const response = await chat(alice, { messages: [{ role: 'user', content: 'Afterwards.' }] });
    expect(response.status, await response.clone().text()).toBe(200);
    await service.expectLedgerIsChain();
  });

  it('whose process ends before it is begun keeps its payer waiting for some minutes', async () => {
    const restore = withoutDatabase('begin', 'deleteChannel');
    expect((await chat(bob)).status).toBe(503);
    restore();
    expect((await chat(bob)).status).toBe(409);
    service.clock.advance(600_000);
    const response = await chat(bob);
    expect(response.status, await response.clone().text()).toBe(200);
  });

  it('that the release before could not begin leaves the payer free', async () => {
    const id = `payer:${bob.address.toLowerCase()}`;
    const document = JSON.stringify(`upto:eip155:31337:${bob.address.toLowerCase()}:1`);
    await service.service.services.store.payments.putChannel({ id, version: 1, claimable: 0n, document });
    const response = await chat(bob);
    expect(response.status, await response.clone().text()).toBe(200);
  });
});
