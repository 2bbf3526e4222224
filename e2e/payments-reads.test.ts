import { createSigner, generateSecretKey, type Signer, signRequest, TallyError } from '@tallystick/core';
import { wrapFetchWithPayment } from '@x402/fetch';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { creditCaller } from '../packages/ledger/src/credit.ts';
import { type PaidService, startPaidService } from './paid-service.ts';
import { payer, settlementOf } from './payer.ts';

const FREE = 2;
const BY_ADDRESS = 9;
const PATH = '/v1/compute/models';
/** Of a read, in nano-USDC. */
const PRICE = 1_000_000n;
const BALANCE = 5n * PRICE;

let service: PaidService;
let agent: Signer;
let requests = 0;
beforeAll(async () => {
  service = await startPaidService({
    TALLY_FREE_READ_PER_DAY: String(FREE),
    TALLY_FREE_READ_PER_DAY_BY_ADDRESS: String(BY_ADDRESS),
  });
});
afterAll(() => service.close());
beforeEach(async () => {
  agent = await createSigner(generateSecretKey());
  const { store } = service.service.services;
  const credit = { caller: agent.keyId, amount: BALANCE, reference: agent.keyId, memo: 'top-up' };
  await creditCaller(store, { ...credit, now: service.clock() });
  service.clock.advance(86_400_000);
});

const balance = async (): Promise<bigint> =>
  (await service.service.services.store.ledger.balance(`caller:${agent.keyId}`)).balance;

/** Reads as the agent, which proves itself. */
async function read(more: Record<string, string> = {}): Promise<Response> {
  requests += 1;
  const moment = { created: Math.floor(service.clock() / 1000), nonce: `n${requests}` };
  const request = { method: 'GET', url: new URL(service.service.config.apiUrl + PATH), body: null };
  const headers = await signRequest(request, { did: agent.keyId, signer: agent }, moment);
  return fetch(service.url + PATH, { headers: { ...headers, ...more } });
}

const readAs = (did: string): Promise<Response> =>
  fetch(service.url + PATH, { headers: { 'x-agent-did': did } });

async function useUpFreeReads(): Promise<void> {
  for (let one = 0; one < FREE; one += 1) expect((await read()).status).toBe(200);
}

describe('a DID with a balance, whose free reads are used up', () => {
  it('is asked first, and charged nothing', async () => {
    await useUpFreeReads();
    const refused = await read();
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({
      code: 'payment_required',
      detail: expect.stringContaining('X-Accept-Charge: 0.001') as string,
      payment: { accepts: [{ scheme: 'batch-settlement', amount: '1000' }] },
    });
    expect(await balance()).toBe(BALANCE);
  });

  it.each(['0.001', '0.0010', '1'])('is charged once it agrees to as much: %s', async (agreed) => {
    expect((await read({ 'x-accept-charge': agreed })).status).toBe(200);
    expect(await balance(), 'a free read costs nothing, whatever is agreed').toBe(BALANCE);
    expect((await read()).status).toBe(200);
    expect((await read({ 'x-accept-charge': agreed })).status).toBe(200);
    expect(await balance()).toBe(BALANCE - PRICE);
  });

  it.each(['0', '0.0009', '0.000999'])('is asked where it agrees to less: %s', async (agreed) => {
    await useUpFreeReads();
    expect((await read({ 'x-accept-charge': agreed })).status).toBe(402);
    expect(await balance()).toBe(BALANCE);
  });

  it.each(['yes', '-1', '1e3', '0,001', '0.0000000001'])('is told what “%s” lacks', async (agreed) => {
    const refused = await read({ 'x-accept-charge': agreed });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code: 'invalid_field', field: 'X-Accept-Charge' });
  });

  it('is not charged by whoever only says the DID', async () => {
    await useUpFreeReads();
    const headers = { 'x-agent-did': agent.keyId, 'x-accept-charge': '1' };
    for (let one = 0; one < FREE; one += 1) await fetch(service.url + PATH, { headers });
    expect((await fetch(service.url + PATH, { headers })).status).toBe(402);
    expect(await balance()).toBe(BALANCE);
  });
});

it('a read that was paid while the receipt key could not sign is answered once it can, however late', async () => {
  const options = { headers: { 'x-agent-did': 'did:web:late.example' } };
  for (let one = 0; one < FREE; one += 1) await fetch(service.url + PATH, options);
  const { issuer } = service.service.services;
  const { client } = payer('alice', service.money.rpcUrl, {
    schemes: ['batch-settlement'],
    deposit: 100_000n,
  });
  const paid: Request[] = [];
  const pay = wrapFetchWithPayment(async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has('payment-signature')) return fetch(request);
    paid.push(request.clone());
    const away = vi.spyOn(issuer, 'signer').mockImplementation(() => {
      throw new TallyError('unavailable', 'The service’s receipt key can’t sign at the moment.');
    });
    return fetch(request).finally(() => away.mockRestore());
  }, client);
  expect((await pay(service.url + PATH, options)).status).toBe(503);
  service.clock.advance(601_000);
  const again = async (): Promise<Response> => fetch(paid[0]?.clone() ?? '');
  const answered = await again();
  expect(answered.status, await answered.clone().text()).toBe(200);
  expect(settlementOf(answered)).toMatchObject({ success: true, extra: { chargedAmount: '1000' } });
  expect(await (await again()).json()).toMatchObject({ code: 'payment_reused' });
  await service.expectLedgerIsChain();
});

describe('free reads', () => {
  it('are the DID’s own: another at the same address has its own too', async () => {
    await useUpFreeReads();
    expect((await read()).status).toBe(402);
    agent = await createSigner(generateSecretKey());
    await useUpFreeReads();
  });

  it('end for invented DIDs at the address’s limit, which what is refused does not use up', async () => {
    for (let one = 0; one < 3 * BY_ADDRESS; one += 1) await readAs('did:web:loud.example');
    const statuses: number[] = [];
    for (let one = FREE; one <= BY_ADDRESS; one += 1) {
      statuses.push((await readAs(`did:web:invented-${one}.example`)).status);
    }
    expect(statuses).toEqual([...Array<number>(BY_ADDRESS - FREE).fill(200), 402]);
  });
});
