import {
  createSigner,
  defaultEngine,
  generateSecretKey,
  readRequestSignature,
  utf8,
  verifyRequestSignature,
} from '@tallystick/core';
import OpenAI from 'openai';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createClient, type ServiceError } from '../src/index.ts';
import { answer, type Loopback, loopback } from './loopback.ts';

const good = answer(200, { alsoKnownAs: [], results: [{}] });
const pathsAt = ({ arrived }: Loopback) => arrived.map(({ path }) => path);

describe('addresses', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test('each path goes to its own, and no credential to the site', async () => {
    const [receipts, api, site] = [await loopback(good), await loopback(good), await loopback(good)];
    const signer = await createSigner(generateSecretKey());
    const client = createClient({
      baseUrl: receipts.url,
      apiUrl: `${api.url}/api/`,
      siteUrl: site.url,
      apiKey: 'k_pro_1',
      agent: { did: signer.keyId, signer },
      acceptCharge: '0.001',
    });
    await client.mintFree({ input: 'x', purpose: 'p' });
    await client.verifyMany(['{}']);
    await client.pricing();
    await client.emitTenantReceipt('t_1', { input: 'x' });
    await client.anchor('00'.repeat(32));
    await client.listAnchors();
    await client.getBalance();
    await client.listKeys();
    await client.getLimits();
    await client.getCheckpoint();
    await client.listModels();
    await client.getLogStatus();
    await client.listPayableResources();
    await client.getDidDocument();
    await expect(client.trustVersion(1)).rejects.toMatchObject({ code: 'trust_invalid' });
    expect(pathsAt(receipts)).toEqual([
      '/v1/receipt/free',
      '/v1/receipts/verify',
      '/pricing',
      '/tenants/t_1/receipts?profile=standard',
    ]);
    expect(pathsAt(api)).toEqual([
      '/api/v1/anchor',
      '/api/v1/anchors',
      '/api/v1/balance',
      '/api/v1/keys',
      '/api/v1/limits',
      '/api/checkpoint',
      '/api/v1/compute/models',
      '/api/v1/log',
      '/api/.well-known/x402',
    ]);
    for (const { headers } of [...receipts.arrived, ...api.arrived]) {
      expect(headers).toMatchObject({
        authorization: 'Bearer k_pro_1',
        'x-agent-did': signer.keyId,
        'x-accept-charge': '0.001',
        signature: expect.any(String),
      });
    }
    expect(pathsAt(site)).toEqual(['/.well-known/did.json', '/.well-known/trust/1.json']);
    const ours = new Set(['authorization', 'x-agent-did', 'x-accept-charge', 'signature', 'signature-input']);
    for (const { headers } of site.arrived)
      expect(Object.keys(headers).filter((name) => ours.has(name))).toEqual([]);
  });

  test('TALLY_URL stands in for the first one', async () => {
    const service = await loopback(good);
    vi.stubEnv('TALLY_URL', service.url);
    await createClient().getStatus();
    expect(pathsAt(service)).toEqual(['/status']);
  });

  test('an empty TALLY_URL stands for none', () => {
    vi.stubEnv('TALLY_URL', '');
    expect(() => createClient()).not.toThrow();
  });

  test.each(['baseUrl', 'apiUrl', 'siteUrl'])('a wrong %s is named', (field) => {
    expect(() => createClient({ [field]: 'ftp://x' })).toThrow(
      expect.objectContaining({ code: 'invalid_field', field }),
    );
  });
});

describe('errors', () => {
  test('an error names the receipt of a call that was billed', async () => {
    const failed = answer(
      502,
      { code: 'provider_failed' },
      { 'x-receipt-id': 'r_env_1700000000_000000000000' },
    );
    const client = createClient({ baseUrl: (await loopback(failed)).url, retries: 0 });
    const error = (await client.getStatus().catch((reason: unknown) => reason)) as ServiceError;
    expect(error.receiptId).toBe('r_env_1700000000_000000000000');
  });
});

describe('clientOptions', () => {
  const completion = answer(200, { choices: [{ message: { content: 'hello' } }] });
  const chat = { model: 'auto', messages: [{ role: 'user' as const, content: 'hello' }] };

  test('another client calls as ours does: with the key, and never with one of its own', async () => {
    const service = await loopback(completion);
    const given = createClient({ baseUrl: service.url, apiKey: 'k_pro_1' }).clientOptions();
    expect(given).toMatchObject({ baseURL: `${service.url}/v1/compute`, apiKey: 'k_pro_1' });
    await new OpenAI(given).chat.completions.create(chat);
    await new OpenAI({
      ...createClient({ baseUrl: service.url }).clientOptions(),
      apiKey: 'sk-secret',
    }).models.list();
    expect(service.arrived.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/compute/chat/completions', 'Bearer k_pro_1'],
      ['/v1/compute/models', undefined],
    ]);
    const { fetch, baseURL } = given;
    await fetch(`${baseURL}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-secret' },
      body: '{}',
    });
    await fetch(new Request(`${baseURL}/responses`, { method: 'POST', body: '{}' }));
    expect(
      service.arrived.slice(2).map(({ path, headers, body }) => [path, headers.authorization, body]),
    ).toEqual([
      ['/v1/compute/v1/messages', 'Bearer k_pro_1', '{}'],
      ['/v1/compute/responses', 'Bearer k_pro_1', '{}'],
    ]);
    expect(JSON.stringify(service.arrived)).not.toContain('sk-secret');
  });

  test('signs the body as it is sent, with the agent', async () => {
    const service = await loopback(completion);
    const signer = await createSigner(generateSecretKey());
    const agent = { did: signer.keyId, signer };
    const client = new OpenAI(createClient({ baseUrl: service.url, agent }).clientOptions());
    await client.chat.completions.create(chat);
    const [{ method, path, headers, body } = expect.unreachable()] = service.arrived;
    const header = (name: string) => headers[name]?.toString();
    const signature = readRequestSignature(
      { method, urls: [new URL(service.url + path)], header, body: utf8(body) },
      { now: Date.now() / 1000 },
    );
    expect(signature.did).toBe(signer.keyId);
    expect(await verifyRequestSignature(defaultEngine, signer.publicKey, signature)).toBe(true);
  });

  test('sends its credentials nowhere else', async () => {
    const elsewhere = await loopback(completion);
    const { fetch, baseURL } = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k' }).clientOptions();
    for (const url of [elsewhere.url, `${baseURL}-else/x`, 'http://127.0.0.1:1/v1/receipt/free'])
      await expect(fetch(url)).rejects.toMatchObject({ code: 'invalid_field', field: 'url' });
    expect(elsewhere.arrived).toEqual([]);
  });

  test('passes on the abort of a call', async () => {
    const service = await loopback(() => {});
    const { fetch, baseURL } = createClient({ baseUrl: service.url }).clientOptions();
    const controller = new AbortController();
    const asked = fetch(`${baseURL}/models`, { signal: controller.signal });
    await expect.poll(() => service.arrived.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});
