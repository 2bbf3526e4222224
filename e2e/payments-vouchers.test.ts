import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT, MODEL, messages, payloadsOf, type Svc } from '../packages/server/test/compute.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { BATCH_SETTLEMENT_ADDRESS, type Payer, payer, settlementOf } from './payer.ts';

let service: PaidService;
let alice: Payer;
/** What vouchers were charged with in all, in base units. */
let charged = 0n;

beforeAll(async () => {
  service = await startPaidService({ TALLY_FREE_READ_PER_DAY: '100' });
  alice = payer('alice', service.money.rpcUrl, { schemes: ['batch-settlement'], deposit: 2_000_000n });
});
afterAll(() => service.close());

async function emitNano(client: Payer, input: string): Promise<Response> {
  return client.fetch(`${service.url}/v1/receipt/emit?profile=nano`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  });
}

function chargeOf(response: Response): bigint {
  const { extra } = settlementOf(response) as { extra?: { chargedAmount?: string } };
  return BigInt(extra?.chargedAmount ?? -1);
}

describe('the x402 client, having deposited once, buys by vouchers', () => {
  it('nano receipts', async () => {
    const before = await service.usdc(alice.address);
    for (const input of ['a', 'b', 'c']) {
      const response = await emitNano(alice, input);
      expect(response.status, await response.clone().text()).toBe(200);
      expect(await response.json()).toMatchObject({ profile: 'nano' });
      expect(chargeOf(response)).toBe(100n);
      charged += 100n;
    }
    expect(await service.usdc(alice.address)).toBe(before - 2_000_000n);
    expect(await service.usdc(BATCH_SETTLEMENT_ADDRESS)).toBe(2_000_000n);
  });

  it('the read of a DID beyond its hundred free ones, and each of nobody', async () => {
    const url = `${service.url}/v1/compute/models`;
    const headers = { 'x-agent-did': 'did:web:reader.example' };
    for (let read = 1; read <= 100; read += 1) {
      const response = await fetch(url, { headers });
      if (response.status !== 200) throw new Error(`read ${read}: ${response.status}`);
      await response.arrayBuffer();
    }
    const refused = await fetch(url, { headers });
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({
      code: 'payment_required',
      payment: { accepts: [{ scheme: 'batch-settlement', amount: '1000' }] },
    });
    for (const init of [{ headers }, {}]) {
      const paid = await alice.fetch(url, init);
      expect(paid.status, await paid.clone().text()).toBe(200);
      expect(chargeOf(paid)).toBe(1_000n);
      charged += 1_000n;
    }
  });

  it('calls of a model, charged what they cost', async () => {
    for (const ask of ['Say it.', 'Say it again.']) {
      const response = await chat({ messages: [{ role: 'user', content: ask }] });
      const answer = (await response.json()) as { svc: Svc };
      expect(response.status, JSON.stringify(answer)).toBe(200);
      const { receipt, billing } = answer.svc;
      // 12 tokens in (4 of them cached) and 8 out: 6.3 micro-USDC.
      expect(billing.charge.nano).toBe('6300');
      expect(receipt.settlement).toMatchObject({
        account: 'x402',
        amount: '0.0000063',
        chain: 'eip155:31337',
        payer: alice.address.toLowerCase(),
        payment: expect.stringMatching(/^voucher:eip155:31337:0x[0-9a-f]{64}:\d+$/),
      });
      charged += chargeOf(response);
    }
    // Two calls of 6.3 base units: rounded up, and what that was too much is carried to the next.
    expect(charged - 2_300n).toBe(13n);
  });

  it('streams, and learns in the last chunk what was charged', async () => {
    const response = await chat({ stream: true });
    expect(chargeOf(response)).toBe(0n);
    const svc = lastSvc(await response.text());
    expect(svc.billing.charge.nano).toBe('6300');
    const { extra } = svc.payment as { extra: { chargedAmount: string } };
    charged += BigInt(extra.chargedAmount);
    expect(charged - 2_300n).toBe(19n);
    // The client, which reads headers alone, is told where its channel stands when it next asks, and goes on.
    const next = await emitNano(alice, 'after a stream');
    expect(next.status, await next.clone().text()).toBe(200);
    charged += 100n;
  });

  it('and all of it comes to the treasury at once, to the base unit', async () => {
    const { treasury, token } = service.money;
    const before = await service.usdc(treasury);
    const { ledger } = service.service.services.store;
    expect((await ledger.balance(`promised:${token.network}`)).balance).toBe(-charged * 1_000n);
    expect(await service.payments.collect()).toMatchObject({ amount: charged });
    expect(await service.usdc(treasury)).toBe(before + charged);
    expect((await ledger.balance(`promised:${token.network}`)).balance).toBe(0n);
    await service.expectLedgerIsChain();
    expect(await service.payments.collect()).toBeNull();
  });
});

function chat(body: Record<string, unknown>): Promise<Response> {
  return alice.fetch(service.url + CHAT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages, max_completion_tokens: 100, ...body }),
  });
}

function lastSvc(stream: string): Svc & { readonly payment?: unknown } {
  const last = payloadsOf(stream).findLast((payload) => payload.includes('"svc"'));
  return (JSON.parse(last ?? '{}') as { svc: Svc }).svc;
}
