import { fileURLToPath } from 'node:url';
import { type JsonObject, sha256Hex, trustOf, utf8, verify } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSchema } from '../../server/test/schemas.ts';
import { expectProblem, receiptIdOf, startTestService, type TestService } from '../../server/test/service.ts';

const AGENT = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const FREE = '/v1/receipt/free';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { TALLY_REGION: 'eu-west-1' } });
});
afterAll(() => service.close());

const mint = async (body: JsonObject, headers = {}) => {
  const reply = await service.post(FREE, body, headers);
  expect(reply.status, reply.text).toBe(200);
  return reply;
};

describe('free mint', () => {
  it('answers the envelope of specification 2.7, member for member', async () => {
    const { json, headers } = await mint({ input: 'The quick brown fox', purpose: 'demo' });
    expect(json).toEqual({
      v: 'svc-receipt-v1',
      receipt_profile: 'standard',
      receipt_schema_version: 'r1.0.0',
      receipt_id: expect.stringMatching(/^r_env_1803902400_[0-9a-f]{12}$/),
      request: {
        hash: `sha256:${sha256Hex(utf8('The quick brown fox'))}`,
        origin: null,
        purpose: 'demo',
        policy_hash: null,
      },
      operator: { entity: 'did:svc:local', region: 'eu-west-1', training_region: null },
      hardware: { class: null, attestation: null },
      response: { hash: null, sealed: null },
      settlement: { chain: null, asset: null, tx: null },
      signatures: { requester: null, operator: null, svc: expect.stringMatching(/^[\w-]{86}$/) },
      issued_at: '2027-03-01T12:00:00.250Z',
      issuer_did: 'did:svc:local',
      issuer_pubkey: expect.stringMatching(/^[\w-]{43}$/),
      issuer_verified: true,
      key_id: service.services.issuer.signer('receipt').keyId,
    });
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-receipt-profile')).toBe('standard');
    expect(headers.get('x-receipt-schema-version')).toBe('r1.0.0');
    expectSchema('envelope', json);
  });

  it('signs what the caller says of policy and response as declared', async () => {
    const [policy, response] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`);
    const said = { policy_hash: policy ?? '', response_hash: response ?? '', response_sealed: true };
    const whole = await mint({ input: 'x', purpose: 'p', ...said });
    expect(whole.json).toMatchObject({
      declared: ['request.policy_hash', 'response.hash', 'response.sealed'],
      request: { policy_hash: policy },
      response: { hash: response, sealed: true },
    });
    expectSchema('envelope', whole.json);
    const verdict = await service.post('/v1/receipt/verify', whole.text);
    expect(verdict.json).toMatchObject({ valid: true, issuer: { trusted: true } });
    const forged = await service.post('/v1/receipt/verify', { ...whole.json, declared: [] });
    expect(forged.json).toMatchObject({ valid: false });
    const part = await mint({ input: 'x', purpose: 'p', response_hash: response ?? '' });
    expect(part.json).toMatchObject({
      declared: ['response.hash'],
      request: { policy_hash: null },
      response: { hash: response, sealed: null },
    });
    expectProblem(
      await service.post(FREE, { input: 'x', purpose: 'p', response_sealed: true }),
      'missing_field',
      'response_hash',
    );
    for (const field of ['policy_hash', 'response_hash']) {
      const bare = { input: 'x', purpose: 'p', [field]: 'a'.repeat(64) };
      expectProblem(await service.post(FREE, bare), 'invalid_field', field);
    }
  });

  it('says what the operator configured of region, training and hardware, in each envelope', async () => {
    const attestation = 'nvidia:sha256:cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96';
    const own = await startTestService({
      env: {
        TALLY_REGION: 'eu-west-1',
        TALLY_TRAINING_REGION: 'eu-north-1',
        TALLY_HARDWARE_CLASS: 'amd-epyc',
        TALLY_HARDWARE_ATTESTATION: attestation,
        TALLY_ATTESTATION_DIR: fileURLToPath(new URL('../../../spec/vectors/attestation', import.meta.url)),
      },
    });
    try {
      const messages = [
        { role: 'user', content: 'Which is the largest planet? Jupiter is the largest planet.' },
      ];
      const minted = await own.post(FREE, { input: 'x', purpose: 'p' });
      const called = await own.post('/v1/compute/chat/completions', { model: 'local/extract-1', messages });
      const receipts = [minted.json, (called.json.svc as JsonObject | undefined)?.receipt as JsonObject];
      for (const one of receipts) {
        expect(one).toMatchObject({
          operator: { region: 'eu-west-1', training_region: 'eu-north-1' },
          hardware: { class: 'amd-epyc', attestation },
        });
      }
    } finally {
      await own.close();
    }
  });

  it('is verified offline against the published record', async () => {
    const { json } = await mint({ input: 'x', purpose: '' });
    const record = (await service.get('/.well-known/issuers/did:svc:local.json')).json;
    const trust = trustOf([record as never]);
    expect(await verify(json, { now: service.clock(), trust })).toMatchObject({
      valid: true,
      issuer: { trusted: true, did: 'did:svc:local' },
    });
    const changed = { ...json, request: { ...(json.request as JsonObject), purpose: 'another' } };
    expect(await verify(changed, { now: service.clock(), trust })).toMatchObject({
      valid: false,
      integrity: false,
    });
  });

  it('names the agent of X-Agent-DID as the origin', async () => {
    const { json } = await mint({ input: 'x', purpose: 'demo' }, { 'x-agent-did': AGENT });
    expect(json.request).toMatchObject({ origin: AGENT });
  });

  it.each([
    ['text outside ASCII, composed and decomposed differing', 'café', 'cafe\u0301'],
    ['astral characters and controls', '𝄞\u0000\u001f', '𝄞\u0000\u001e'],
  ])('hashes the UTF-8 bytes of input: %s', async (_, one, other) => {
    const hash = async (input: string) =>
      ((await mint({ input, purpose: 'p' })).json.request as JsonObject).hash;
    expect(await hash(one)).toBe(`sha256:${sha256Hex(utf8(one))}`);
    expect(await hash(other)).not.toBe(await hash(one));
  });

  it('never stores the input', async () => {
    const input = 'a secret that must not be kept';
    const { text } = await mint({ input, purpose: 'demo' });
    expect(text).not.toContain(input);
    expect((await service.get(`/v1/receipt/${receiptIdOf(text)}`)).text).toBe(text);
  });

  it('gives equal requests receipts of their own', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => mint({ input: 'same', purpose: 'same' })),
    );
    expect(new Set(replies.map(({ json }) => json.receipt_id)).size).toBe(50);
  });

  it('refuses a receipt past 3,072 bytes, and takes the longest that still leaves room for counter-signatures', async () => {
    const { text } = await mint({ input: 'x', purpose: '' });
    const room = 3072 - text.length - 2 * 84;
    const { json } = await mint({ input: 'x', purpose: 'p'.repeat(room) });
    expect(json.request).toMatchObject({ purpose: 'p'.repeat(room) });
    const refused = await service.post(FREE, { input: 'x', purpose: 'p'.repeat(room + 1) });
    expectProblem(refused, 'receipt_too_large', 'purpose');
    expect(refused.json.detail).toMatch(/3072 bytes\. Shorten the texts that you gave \(DID, purpose\)\.$/);
    expectProblem(
      await service.post(FREE, { input: 'x', purpose: 'é'.repeat(room / 2 + 1) }),
      'receipt_too_large',
      'purpose',
    );
  });

  it('anchors nothing without a key', async () => {
    expectProblem(
      await service.post(FREE, { input: 'x', purpose: 'p', anchor: true }),
      'api_key_missing',
      'anchor',
    );
    await mint({ input: 'x', purpose: 'p', anchor: false });
  });
});
