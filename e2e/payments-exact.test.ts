import {
  createSigner,
  generateSecretKey,
  type Signer,
  sha256,
  signRequest,
  toHex,
  utf8,
} from '@tallystick/core';
import { verifyForeign } from '@tallystick/sdk';
import {
  extractJWSHeader,
  type JWSSignedOffer,
  type JWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { x402HTTPClient } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { withApiKeySecret } from '../packages/issuers/src/keyring.ts';
import { apiKey } from '../packages/server/test/service.ts';
import { expectVerifiedByRpc, type PaidService, startPaidService } from './paid-service.ts';
import { payer, settlementOf } from './payer.ts';
import { exactPayment, requiredBy } from './signed-payment.ts';

let service: PaidService;

beforeAll(async () => {
  service = await startPaidService({ TALLY_LOG_LEVEL: 'error' });
});
afterAll(() => service.close());

function emit(profile: string, input = 'x'): [string, RequestInit] {
  const body = JSON.stringify({ input, purpose: 'a test' });
  return [
    `${service.url}/v1/receipt/emit?profile=${profile}`,
    { method: 'POST', headers: { 'content-type': 'application/json' }, body },
  ];
}

/** A bill of three units, of which one has evidence; each call another bill. */
function meter(type: string): [string, RequestInit] {
  const bill = {
    machine_commitment: '1'.repeat(64),
    customer_commitment: '2'.repeat(64),
    salt_commitment: toHex(sha256(utf8(type))),
    window_start: '2026-01-01T00:00:00Z',
    window_end: '2026-01-15T00:00:00Z',
    service_unit: 'pallet_moved',
    billed_unit_count: 3,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: '4'.repeat(64) },
  };
  const leaf = { unit: 1, receipt_sha256: 'a'.repeat(64) };
  const body =
    type === 'application/json'
      ? JSON.stringify({ ...bill, evidence: [leaf] })
      : `${JSON.stringify(bill)}\n${JSON.stringify(leaf)}\n`;
  return [`${service.url}/v1/receipt/metering`, { method: 'POST', headers: { 'content-type': type }, body }];
}

describe('the x402 client buys by exact', () => {
  it.each([
    ['standard', 800n, '0.0008'],
    ['pq', 1_200n, '0.0012'],
  ])('a %s receipt', async (profile, price, amount) => {
    const { fetch, address } = payer('alice', service.money.rpcUrl);
    const { treasury } = service.money;
    const [before, held] = await Promise.all([service.usdc(address), service.usdc(treasury)]);
    const response = await fetch(...emit(profile));
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const receipt = JSON.parse(text) as { settlement_reference: unknown };
    const { transaction, payer: paidBy } = settlementOf(response);
    expect(receipt.settlement_reference).toEqual({
      rail: 'x402',
      chain_id: 31_337,
      asset: 'USDC',
      status: 'confirmed',
      tx: transaction,
      amount,
    });
    expect(paidBy).toBe(address.toLowerCase());
    expect(await service.usdc(address)).toBe(before - price);
    expect(await service.usdc(treasury)).toBe(held + price);
    const seen = await service.money.token.settled(transaction, {
      from: address,
      to: treasury,
      amount: price,
    });
    expect(seen).toBe('confirmed');
    await expectVerifiedByRpc(service, text);
    await service.expectLedgerIsChain();
  });

  it.each(['application/json', 'application/x-ndjson'])('a metering receipt of %s', async (type) => {
    const { fetch, address } = payer('alice', service.money.rpcUrl);
    const before = await service.usdc(address);
    const [url, request] = meter(type);
    const unpaid = await globalThis.fetch(url, request);
    expect({ status: unpaid.status, asks: requiredBy(unpaid).accepts.map(({ amount }) => amount) }).toEqual({
      status: 402,
      asks: ['1200'],
    });
    const response = await fetch(url, request);
    expect(response.status, await response.clone().text()).toBe(200);
    expect(await response.json()).toMatchObject({ signed_body: { receipt_type: 'sls.metering' } });
    expect(await service.usdc(address)).toBe(before - 1_200n);
    await service.expectLedgerIsChain();
  });

  it('a metering receipt without a body that is worth reading: the price comes first', async () => {
    const [url, request] = meter('application/json');
    const response = await globalThis.fetch(url, { ...request, body: '{' });
    expect(response.status).toBe(402);
  });

  it('a key, which is good at once and shown again to the same payment and identifier', async () => {
    withApiKeySecret(service.service.services.issuer.keyring);
    const { address, client } = payer('bob', service.money.rpcUrl);
    const url = `${service.url}/v1/anchor/keys`;
    const init = post({ tier: 'pro', contact: 'ops@example.com' });
    const refused = await globalThis.fetch(url, init);
    expect(refused.status).toBe(402);
    const required = requiredBy(refused);
    const price = BigInt(required.accepts[0]?.amount ?? 0);
    const before = await service.usdc(address);
    const { 'PAYMENT-SIGNATURE': payment = '' } = new x402HTTPClient(client).encodePaymentSignatureHeader(
      await client.createPaymentPayload(required),
    );
    const paid = () =>
      globalThis.fetch(
        url,
        post(
          { tier: 'pro', contact: 'ops@example.com' },
          { 'payment-signature': payment, 'idempotency-key': 'nobody-guesses-it' },
        ),
      );
    const first = await paid();
    const issued = (await first.json()) as { key: string; settlement: { tx: string } };
    expect(first.status, JSON.stringify(issued)).toBe(200);
    expect(issued.key).toMatch(/^k_pro_[0-9A-Za-z]{32}$/);
    expect(await (await paid()).json()).toEqual(issued);
    expect(await service.usdc(address)).toBe(before - price);
    expect(issued.settlement.tx).toBe(settlementOf(first).transaction);
    const [, request] = emit('standard', 'by the key');
    const minted = await globalThis.fetch(`${service.url}/v1/receipt/emit`, {
      ...request,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${issued.key}` },
    });
    expect(await minted.json()).toMatchObject({ tier: 'pro', settlement_reference: { status: 'none' } });
    await service.expectLedgerIsChain();
  });

  it('a key, which nobody gets who reads its payment on the chain', async () => {
    withApiKeySecret(service.service.services.issuer.keyring);
    const url = `${service.url}/v1/anchor/keys`;
    const order = { tier: 'pro' };
    const required = requiredBy(await globalThis.fetch(url, post(order)));
    const buy = async (headers: Record<string, string>) => {
      const response = await globalThis.fetch(url, post(order, headers));
      expect(response.status, await response.clone().text()).toBe(200);
      return (await response.json()) as { key: string | null; key_id: string };
    };
    const named = await exactPayment(devAccount('bob'), required);
    const first = await buy({ ...named, 'idempotency-key': 'secret-1' });
    expect(first.key).toMatch(/^k_pro_/);
    expect(await buy(named)).toEqual({ ...first, key: null });
    expect(await buy({ ...named, 'idempotency-key': 'secret-2' })).toEqual({ ...first, key: null });
    expect(await buy({ ...named, 'idempotency-key': 'secret-1' })).toEqual(first);

    const unnamed = await exactPayment(devAccount('bob'), required);
    const shown = await buy(unnamed);
    expect(shown.key).toMatch(/^k_pro_/);
    for (const headers of [unnamed, { ...unnamed, 'idempotency-key': 'secret-1x' }])
      expect(await buy(headers)).toEqual({ ...shown, key: null });
  });

  it('a balance, which then pays for receipts that no payment comes with', async () => {
    const { fetch, address } = payer('alice', service.money.rpcUrl);
    const { authorization } = await apiKey(service.service, 'pro');
    const before = await service.usdc(address);
    const response = await fetch(
      `${service.url}/v1/balance/topup`,
      post({ amount: '0.25' }, { authorization }),
    );
    expect(response.status, await response.clone().text()).toBe(200);
    expect(await response.json()).toMatchObject({
      credited: { usdc: '0.250000000' },
      balance: { usdc: '0.250000000' },
      settlement: { network: 'eip155:31337', tx: settlementOf(response).transaction },
    });
    expect(await service.usdc(address)).toBe(before - 250_000n);

    const made = await globalThis.fetch(`${service.url}/v1/keys`, post({}, { authorization }));
    const { id } = (await made.json()) as { id: string };
    const forMade = await fetch(`${service.url}/v1/balance/topup`, post({ amount: '0.001', account: id }));
    // Whoever pays for another reads nothing of it.
    expect(await forMade.json()).toMatchObject({ credited: { usdc: '0.001000000' }, balance: null });
    // A made key has no account of its own: its owner's pays for its calls.
    const read = await globalThis.fetch(`${service.url}/v1/balance`, { headers: { authorization } });
    expect(await read.json()).toMatchObject({ balance: { usdc: '0.251000000' } });

    const signer = await createSigner(generateSecretKey());
    const named = await fetch(
      `${service.url}/v1/balance/topup`,
      post({ amount: '0.001', account: signer.keyId }),
    );
    expect(named.status, await named.clone().text()).toBe(200);
    expect(await named.json()).toMatchObject({ balance: null });
    const emitted = await emitSigned(signer);
    expect(emitted.headers.get('x-balance-low')).toBe('0.0002');
    expect(await emitted.json()).toMatchObject({ agent_did: signer.keyId, agent_proved: true });
    expect((await service.balance(`caller:${signer.keyId}`)).balance).toBe(200_000n);
    // What is left does not pay for another one.
    expect((await emitSigned(signer)).status).toBe(402);
    await service.expectLedgerIsChain();
  });

  it('and gets an x402 receipt of it, and offers, that its own library verifies', async () => {
    const refused = await globalThis.fetch(...emit('standard', 'with an offer'));
    const { extensions, accepts } = requiredBy(refused);
    const { offers } = infoOf(extensions);
    expect(await Promise.all(offers.map((offer) => verifyOfferSignatureJWS(offer)))).toMatchObject(
      accepts.map(({ scheme, amount, payTo }) => ({ scheme, amount, payTo })),
    );
    const { fetch, address } = payer('alice', service.money.rpcUrl);
    const response = await fetch(...emit('standard', 'with an offer'));
    const settled = settlementOf(response);
    const { receipt } = infoOf(settled.extensions);
    expect(await verifyReceiptSignatureJWS(receipt)).toMatchObject({
      network: 'eip155:31337',
      payer: address.toLowerCase(),
      transaction: settled.transaction,
    });
    const judged = await Promise.all(
      [extensions, settled.extensions].map((one) => verifyForeign({ extensions: one })),
    );
    expect(judged).toMatchObject([
      { family: 'x402', valid: true, count: offers.length },
      { family: 'x402', valid: true, count: 1 },
    ]);
    const { key_id } = (await response.json()) as { key_id: string };
    expect(extractJWSHeader(receipt.signature).kid).toBe(`${key_id}#${key_id.slice('did:key:'.length)}`);
  });
});

function infoOf(extensions: Record<string, unknown> = {}) {
  type Info = { readonly offers: JWSSignedOffer[]; readonly receipt: JWSSignedReceipt };
  return (extensions['offer-receipt'] as { info: Info }).info;
}

function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

let nonces = 0;
async function emitSigned(signer: Signer): Promise<Response> {
  const url = new URL(`${service.service.config.receiptsUrl}/v1/receipt/emit`);
  const body = utf8(JSON.stringify({ input: 'prepaid' }));
  const moment = { created: Math.floor(Date.now() / 1000), nonce: `n${(nonces += 1)}` };
  const headers = await signRequest({ method: 'POST', url, body }, { did: signer.keyId, signer }, moment);
  return globalThis.fetch(`${service.url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as BodyInit,
  });
}
