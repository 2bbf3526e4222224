import {
  canonicalBytes,
  canonicalize,
  type JsonObject,
  sha256,
  sha256Hex,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSchema } from '../../server/test/schemas.ts';
import { expectProblem, receiptIdOf, startTestService, type TestService } from '../../server/test/service.ts';

const AGENT = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const OTHER = 'did:web:agents.example.com:seven';
const PAYLOAD = { b: [1, 2.5, null], a: 'ü' };
const PAYLOAD_HASH = sha256(canonicalBytes(PAYLOAD));
const id = (profile: string) => expect.stringMatching(new RegExp(`^r_${profile}_1803902400_[0-9a-f]{12}$`));
const signature = expect.stringMatching(/^[\w-]{86}$/);

let service: TestService;
let keyId: string;
beforeAll(async () => {
  service = await startTestService();
  keyId = service.services.issuer.signer('receipt').keyId;
});
afterAll(() => service.close());

const send = (profile: string, body: unknown, headers = {}) =>
  service.post(`/v1/receipt/emit?profile=${profile}`, body, headers);
const emit = async (profile: string, body: unknown, headers = {}) => {
  const reply = await send(profile, body, headers);
  expect(reply.status, reply.text).toBe(200);
  return reply;
};

const standardMembers = (profile: string) => ({
  receipt_profile: profile,
  receipt_schema_version: 'r1.0.0',
  agent_did: AGENT,
  agent_proved: false,
  subject: { sha256: sha256Hex(canonicalBytes(PAYLOAD)), content_type: 'application/json', ok: true },
  purpose: null,
  settlement_reference: { rail: 'x402', chain_id: 31_337, asset: 'USDC', status: 'none', tx: null },
  seal: { sealed: false, declaration: expect.stringMatching(/not sealed/) },
  reputation_context: { reputation_tier: 'unregistered' },
  issued_at: '2027-03-01T12:00:00.250Z',
  issuer_did: 'did:svc:local',
  issuer_pubkey: expect.stringMatching(/^[\w-]{43}$/),
  issuer_verified: true,
  key_id: keyId,
  receipt: { id: id(profile), sig_b64u: signature, verify_uri: 'http://127.0.0.1:8787/verify' },
});

describe('emit, by profile (specification 2.8)', () => {
  it('nano', async () => {
    const { json } = await emit('nano', { payload: PAYLOAD, agent_did: AGENT });
    expect(json).toEqual({
      profile: 'nano',
      v: 'r1.0.0',
      a: AGENT,
      h: toBase64url(PAYLOAD_HASH),
      t: 'application/json',
      ok: true,
      ts: 1_803_902_400,
      k: keyId,
      receipt: { id: id('nano'), sig_b64u: signature, verify_uri: 'http://127.0.0.1:8787/verify' },
    });
    expectSchema('nano', json);
  });

  it('standard', async () => {
    const { json } = await emit('standard', { payload: PAYLOAD, agent_did: AGENT });
    expect(json).toEqual(standardMembers('standard'));
    expectSchema('standard', json);
  });

  it('pq', async () => {
    const { json } = await emit('pq', { payload: PAYLOAD, agent_did: AGENT });
    expect(json).toEqual({
      ...standardMembers('pq'),
      crypto_agile_metadata: {
        current_alg: 'Ed25519',
        signature_posture: expect.any(String),
        envelope_posture: expect.any(String),
      },
      sealed_evidence_ref: null,
      pq_posture: expect.stringContaining('not_post_quantum'),
      auditor_verifier: false,
    });
    expectSchema('pq', json);
  });

  it.each(['nano', 'standard', 'pq'])(
    '%s: says its profile in headers, is verified, and reads back to the byte',
    async (profile) => {
      const { text, json, headers } = await emit(profile, { input: 'x' });
      expect(headers.get('x-receipt-profile')).toBe(profile);
      expect(headers.get('x-receipt-schema-version')).toBe('r1.0.0');
      expect(canonicalize(json)).toBe(text);
      expect((await service.get(`/v1/receipt/${receiptIdOf(text)}`)).text).toBe(text);
      const verdict = await service.post('/v1/receipt/verify', text);
      expect(verdict.json).toMatchObject({
        valid: true,
        family: 'profile',
        profile,
        issuer: { trusted: true },
      });
    },
  );

  it('is standard where no profile is named', async () => {
    const { json, headers } = await service.post('/v1/receipt/emit', { input: 'x' });
    expect(json.receipt_profile).toBe('standard');
    expect(headers.get('x-receipt-profile')).toBe('standard');
  });

  it.each(['', 'gold', 'NANO', 'env', 'toString'])('refuses the profile "%s"', async (profile) => {
    expectProblem(await send(profile, { input: 'x' }), 'unknown_profile', 'profile');
  });

  it('refuses a second profile', async () => {
    const reply = await service.post('/v1/receipt/emit?profile=nano&profile=pq', { input: 'x' });
    expectProblem(reply, 'invalid_field', 'profile');
  });

  it.each(['/v1/receipt/free', '/v1/receipt/metering'])(
    'refuses one for %s, which has none',
    async (path) => {
      expectProblem(await service.post(`${path}?profile=pq`, {}), 'unknown_field', 'profile');
    },
  );
});

describe('who and what', () => {
  it.each([
    ['the body', { agent_did: AGENT }, { 'x-agent-did': OTHER }, AGENT],
    ['the header', {}, { 'x-agent-did': OTHER }, OTHER],
    ['nobody', {}, {}, 'did:svc:anonymous'],
  ])('takes the agent from %s', async (_, body, headers, agent) => {
    expect((await emit('standard', { input: 'x', ...body }, headers)).json).toMatchObject({
      agent_did: agent,
      agent_proved: false,
    });
    expect((await emit('nano', { input: 'x', ...body }, headers)).json.a).toBe(agent);
  });

  it.each([
    ['payload', { payload: { z: 1, a: 1e21 } }, sha256Hex(utf8('{"a":1e+21,"z":1}')), 'application/json'],
    ['payload null', { payload: null }, sha256Hex(utf8('null')), 'application/json'],
    ['payload text', { payload: 'x' }, sha256Hex(utf8('"x"')), 'application/json'],
    ['input', { input: 'ü' }, sha256Hex(utf8('ü')), 'text/plain'],
    ['payload_sha256', { payload_sha256: 'ab'.repeat(32) }, 'ab'.repeat(32), 'application/octet-stream'],
  ])('hashes %s, with its own content type', async (_, body, sha256, content_type) => {
    const { json } = await emit('standard', body);
    expect(json.subject).toEqual({ sha256, content_type, ok: true });
    const other = await emit('standard', { ...body, content_type: 'text/csv; charset=utf-8', ok: false });
    expect(other.json.subject).toEqual({ sha256, content_type: 'text/csv; charset=utf-8', ok: false });
    expect((await emit('nano', { ...body, ok: false })).json).toMatchObject({ t: content_type, ok: false });
  });

  it('hashes a payload by its value, not by its spelling', async () => {
    const hash = async (body: string) => ((await emit('standard', body)).json.subject as JsonObject).sha256;
    expect(await hash('{"payload":{"a":1.0,"b":"\\u00fc"}}')).toBe(
      await hash('{ "payload": {"b":"ü","a":1} }'),
    );
    expect(await hash('{"payload":{"__proto__":1}}')).toBe(sha256Hex(utf8('{"__proto__":1}')));
  });

  it('carries what the caller declares, as declared', async () => {
    const seal = { seal_id: 'seal-1', ciphertext_sha256: '0'.repeat(64), key_commitment: 'f'.repeat(64) };
    const settlement_reference = { rail: 'x402', chain_id: 8453, asset: 'USDC', tx: '0xabc' };
    const more = {
      purpose: 'audit',
      seal,
      settlement_reference,
      sealed_evidence_ref: 'urn:x',
      auditor_verifier: true,
    };
    const { json } = await emit('pq', { input: 'x', ...more });
    expect(json).toMatchObject({
      purpose: 'audit',
      seal: { sealed: true, ...seal },
      settlement_reference: { ...settlement_reference, status: 'declared' },
      sealed_evidence_ref: 'urn:x',
      auditor_verifier: true,
    });
    expectSchema('pq', json);
  });

  it.each([
    [{}, 'missing_field', 'payload'],
    [{ payload: 1, input: 'x' }, 'conflicting_fields', 'input'],
    [{ input: 'x', payload_sha256: '0'.repeat(64) }, 'conflicting_fields', 'payload_sha256'],
    [{ input: '' }, 'empty_input', 'input'],
    [{ input: 'x', anchor: true }, 'api_key_missing', 'anchor'],
    [{ payload_sha256: 'AB'.repeat(32) }, 'invalid_field', 'payload_sha256'],
    [{ input: 'x', agent_did: 'did:UPPER:x' }, 'invalid_field', 'agent_did'],
    [{ input: 'x', content_type: 'text' }, 'invalid_field', 'content_type'],
    [
      { input: 'x', settlement_reference: { rail: 'x402', asset: 'USDC' } },
      'missing_field',
      'settlement_reference.chain_id',
    ],
    [
      { input: 'x', settlement_reference: { rail: 'x', chain_id: 1.5, asset: 'a' } },
      'invalid_field',
      'settlement_reference.chain_id',
    ],
    [
      { input: 'x', seal: { seal_id: 's', ciphertext_sha256: '0', key_commitment: '0' } },
      'invalid_field',
      'seal.ciphertext_sha256',
    ],
    [{ input: 'x', seal: { sealed: true } }, 'unknown_field', 'seal.sealed'],
  ] as const)('refuses %j', async (body, code, field) => {
    expectProblem(await send('pq', body), code, field);
  });
});

describe('size', () => {
  it.each([
    ['did:key', AGENT],
    ['did:web', OTHER],
    ['did:svc', 'did:svc:acme'],
    ['no agent', undefined],
  ])('nano stays under 460 bytes for %s', async (_, agent_did) => {
    const { text } = await emit('nano', {
      payload: PAYLOAD,
      ...(agent_did === undefined ? {} : { agent_did }),
    });
    expect(utf8(text).length).toBeLessThanOrEqual(460);
  });

  it('nano is never past 600 bytes, whatever its texts', async () => {
    const { text } = await emit('nano', { input: 'x', agent_did: 'did:web:a' });
    const room = 600 - text.length;
    const longest = await emit('nano', { input: 'x', agent_did: `did:web:a${'b'.repeat(room)}` });
    expect(longest.text.length).toBe(600);
    const refused = await send('nano', { input: 'x', agent_did: `did:web:a${'b'.repeat(room + 1)}` });
    expectProblem(refused, 'receipt_too_large', 'agent_did');
    expect(refused.json.detail).toContain('600');
  });

  it('standard is never past 3,072 bytes', async () => {
    const { text } = await emit('standard', { input: 'x', purpose: '' });
    const room = 3072 - text.length;
    const longest = await emit('standard', { input: 'x', purpose: 'p'.repeat(room) });
    expect(longest.text.length).toBe(3072);
    const refused = await send('standard', { input: 'x', purpose: 'p'.repeat(room + 1) });
    expectProblem(refused, 'receipt_too_large', 'purpose');
    expect(refused.json.detail).toContain('3072');
    expectProblem(
      await send('standard', {
        input: 'x',
        agent_did: `did:web:${'a'.repeat(2035)}`,
        purpose: 'p'.repeat(400),
      }),
      'receipt_too_large',
      'agent_did',
    );
    expect((await emit('pq', { input: 'x', purpose: 'p'.repeat(room + 1) })).text.length).toBeGreaterThan(
      3072,
    );
  });

  it('refuses a DID past 2,048 characters as no DID', async () => {
    expectProblem(
      await send('pq', { input: 'x', agent_did: `did:web:${'a'.repeat(2041)}` }),
      'invalid_field',
      'agent_did',
    );
  });
});

describe('what a profile does not carry is refused, not dropped', () => {
  const members = {
    purpose: 'a purpose',
    settlement_reference: { rail: 'card', chain_id: 1, asset: 'USD' },
    seal: { seal_id: 's', ciphertext_sha256: 'a'.repeat(64), key_commitment: 'b'.repeat(64) },
    sealed_evidence_ref: 'urn:evidence:7',
    auditor_verifier: true,
  };
  const carried: Record<'nano' | 'standard' | 'pq', readonly string[]> = {
    nano: [],
    standard: ['purpose', 'settlement_reference', 'seal'],
    pq: Object.keys(members),
  };
  const cases = Object.entries(members).flatMap(([name, value]) =>
    (['nano', 'standard', 'pq'] as const).map((profile) => ({ profile, name, value })),
  );

  it.each(cases.filter(({ profile, name }) => !carried[profile].includes(name)))(
    '$name in $profile',
    async ({ profile, name, value }) => {
      const reply = await send(profile, { input: 'x', [name]: value });
      expectProblem(reply, 'unknown_field', name);
      expect(reply.json.detail).toContain(`A ${profile} receipt has no ${name}.`);
    },
  );

  it.each(cases.filter(({ profile, name }) => carried[profile].includes(name)))(
    'but $name is in $profile',
    async ({ profile, name, value }) => {
      const { json } = await emit(profile, { input: 'x', [name]: value });
      expect(json).toMatchObject({ [name]: value });
    },
  );

  it('nothing is lost with a member that says nothing', async () => {
    expect((await send('standard', { input: 'x', sealed_evidence_ref: null })).status).toBe(200);
  });

  it('`profile` in the body: it belongs in the query', async () => {
    const reply = await service.post('/v1/receipt/emit', { input: 'x', profile: 'nano' });
    expectProblem(reply, 'unknown_field', 'profile');
    expect(reply.json.detail).toBe('profile belongs in the query, not in the body: ?profile=….');
  });
});
