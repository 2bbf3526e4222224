import {
  anchoredHash,
  canonicalBytes,
  copyJson,
  didKeyOf,
  fromHex,
  sha256Hex,
  toBase64url,
} from '@tallystick/core';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Served, serve, temporaryFolder } from '../../../e2e/process.ts';
import {
  AnchorError,
  createClient,
  createSigner,
  generateSecretKey,
  issue,
  verifyReceipt,
} from '../src/index.ts';
import { answer, loopback } from './loopback.ts';

const issuerSk = generateSecretKey();
const signer = await createSigner(issuerSk);
const params = {
  symbol: 'USDC',
  units: 25,
  amountUsd: 24.99,
  recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
  issuerSk,
};
const pending = {
  anchor_ref: 'urn:anchor:pending:2026-11-21T10:00Z:1z',
  batch_id: '2026-11-21T10:00Z',
  eta_seconds: 60,
};

describe('issue', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test('signs a receipt that verifies, without a service', async () => {
    const { receipt, text, anchor } = await issue(params);
    const { publicKey } = signer;
    expect(receipt).toMatchObject({
      type: 'svc-issue-v1',
      symbol: 'USDC',
      units: 25,
      amount_usd: 24.99,
      recipient: params.recipient,
      issuer_pubkey: toBase64url(publicKey),
      issuer_verified: false,
    });
    expect(receipt).not.toHaveProperty('issuer_did');
    expect(anchor).toBeNull();
    expect(await verifyReceipt(text)).toMatchObject({
      valid: true,
      family: 'issue',
      receipt_id: receipt.receipt_id,
      issuer: { key_id: didKeyOf(publicKey), trusted: false },
    });
    expect(await verifyReceipt(text.replace('"units":25', '"units":26'))).toMatchObject({ valid: false });
  });

  test.each([
    ['a seed', issuerSk],
    ['the seed in base64url', toBase64url(issuerSk)],
    ['a signer', signer],
  ])('takes %s', async (_, key) => {
    const { receipt } = await issue({ ...params, issuerSk: key });
    expect(receipt.issuer_pubkey).toBe(toBase64url(signer.publicKey));
  });

  test.each([
    ['symbol', { symbol: '' }, 'invalid_field'],
    ['units', { units: 1.5 }, 'invalid_field'],
    ['units', { units: -1 }, 'invalid_field'],
    ['amountUsd', { amountUsd: Number.NaN }, 'invalid_field'],
    ['amountUsd', { amountUsd: -0.01 }, 'invalid_field'],
    ['amountUsd', { amountUsd: Number.POSITIVE_INFINITY }, 'invalid_field'],
    ['recipient', { recipient: '' }, 'invalid_field'],
    ['recipient', { recipient: 'bob' }, 'invalid_field'],
    ['issuerDid', { issuerDid: 'acme' }, 'invalid_field'],
    [undefined, { issuerSk: new Uint8Array(31) }, 'invalid_secret_key'],
    [undefined, { issuerSk: 'short' }, 'invalid_base64url'],
    ['baseUrl', { anchor: true, baseUrl: 'example.com' }, 'invalid_field'],
  ])('refuses a wrong %s: %j', async (field, wrong, code) => {
    await expect(issue({ ...params, ...wrong })).rejects.toMatchObject({ code, field });
  });

  test('anchors with the parameters of the specification alone, at the service that TALLY_URL names', async () => {
    const service = await loopback(answer(200, pending));
    vi.stubEnv('TALLY_URL', service.url);
    const { anchor, receipt } = await issue({ ...params, apiKey: 'k_pro_1', anchor: true });
    expect([anchor, receipt.tier, service.arrived.length]).toEqual([pending, 'pro', 1]);
  });

  test('sends nothing but the anchored hash, with the key', async () => {
    const service = await loopback(answer(200, pending));
    const issued = await issue({ ...params, baseUrl: service.url, apiKey: 'k_pro_1', anchor: true });
    expect(issued.anchor).toEqual(pending);
    const { anchor_ref, tier, ...signed } = issued.receipt;
    expect([anchor_ref, tier]).toEqual([pending.anchor_ref, 'pro']);
    const canonical_sha256 = toBase64url(fromHex(anchoredHash(issued.receipt)));
    expect(canonical_sha256).toBe(toBase64url(fromHex(sha256Hex(canonicalBytes(copyJson(signed))))));
    expect(await verifyReceipt(issued.text)).toMatchObject({ valid: true });
    expect(service.arrived).toMatchObject([
      {
        method: 'POST',
        path: '/v1/anchor',
        headers: { authorization: 'Bearer k_pro_1' },
        body: `{"canonical_sha256":"${canonical_sha256}"}`,
      },
    ]);
  });
});

describe('client.issue', () => {
  test('uses the key of the client, or the one given', async () => {
    const service = await loopback(answer(200, pending));
    const client = createClient({ baseUrl: service.url, apiKey: 'k_pro_1' });
    await client.issue({ ...params, anchor: true });
    const scale = await client.issue({ ...params, anchor: true, apiKey: 'k_scale_2' });
    expect(scale.receipt.tier).toBe('scale');
    const enterprise = await client.issue({ ...params, anchor: true, apiKey: 'k_ent_3' });
    expect(enterprise.receipt.tier).toBe('enterprise');
    const bare = await client.issue(params);
    expect(bare.receipt).not.toHaveProperty('tier');
    const keyless = await createClient({ baseUrl: service.url }).issue({ ...params, anchor: true });
    expect(keyless.receipt).not.toHaveProperty('tier');
    expect(service.arrived.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer k_pro_1',
      'Bearer k_scale_2',
      'Bearer k_ent_3',
      undefined,
    ]);
  });

  test('an abort while it is anchored is the reason, not a refusal', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
    const reason = new Error('enough');
    const call = { signal: AbortSignal.abort(reason) };
    await expect(client.issue({ ...params, anchor: true }, call)).rejects.toBe(reason);
  });

  test('does not lose the receipt when anchoring is refused', async () => {
    const refusal = { code: 'quota_exceeded', detail: 'The quota of the month is used up.' };
    const headers = { 'retry-after': '9999', 'x-should-retry': 'false' };
    const service = await loopback(answer(429, refusal, headers), answer(200, pending));
    const client = createClient({ baseUrl: service.url });
    const error = await client.issue({ ...params, anchor: true }).catch((reason: unknown) => reason);
    if (!(error instanceof AnchorError)) throw error;
    expect(error).toMatchObject({ code: 'quota_exceeded', status: 429, retryAfter: 9999, final: true });
    expect(error.message).toBe('The receipt is signed but not anchored. The quota of the month is used up.');
    expect(await verifyReceipt(error.issued.text)).toMatchObject({ valid: true });
    expect(await client.anchor(error.issued.text)).toEqual(pending);
    expect(service.arrived[1]?.body).toBe(service.arrived[0]?.body);
  });
});

describe('with a real service', () => {
  let service: Served;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder() });
  });

  test('a receipt of a registered issuer is known as one', async () => {
    const client = createClient({ baseUrl: service.url });
    const record = await client.registerIssuer({ handle: 'mint-house', key: issuerSk });
    const issuerDid = 'did:svc:mint-house';
    const { text } = await client.issue({ ...params, issuerDid });
    expect(await client.verify(text)).toMatchObject({
      valid: true,
      issuer: { did: issuerDid, status: 'registered' },
    });
    // Offline the same, by its record.
    expect(await verifyReceipt(text)).toMatchObject({ valid: true, issuer: { status: 'unknown' } });
    const registered = { valid: true, issuer: { did: issuerDid, status: 'registered', trusted: false } };
    for (const status of ['registered', 'verified'] as const)
      expect(await verifyReceipt(text, { issuer: { ...record, status } })).toMatchObject(registered);
    await expect(
      verifyReceipt(text, { issuer: { ...record, did: 'did:svc:another' } }),
    ).rejects.toMatchObject({ code: 'issuer_proof_invalid' });
    const boasting = await client.issue({ ...params, issuerDid, issuerVerified: true });
    expect(await client.verify(boasting.text)).toMatchObject({
      valid: false,
      issuer: { status: 'contradicted' },
    });
  });
});
