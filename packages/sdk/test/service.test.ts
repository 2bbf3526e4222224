import {
  canonicalBytes,
  fromBase64url,
  sha256Hex,
  signTrustBundle,
  type TrustBundle,
  type TrustPin,
  utf8,
  verify,
} from '@tallystick/core';
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { type Served, serve, temporaryFolder } from '../../../e2e/process.ts';
import {
  type CheckedTrust,
  type Client,
  checkTrust,
  countersign,
  createClient,
  createSigner,
  type EnvelopeReceipt,
  evidenceLeaf,
  generateSecretKey,
  memoryTrustStore,
  type NanoReceipt,
  openSeal,
  type PqReceipt,
  type Profile,
  type ReceiptOfProfile,
  ServiceError,
  type StandardReceipt,
  seal,
  sealReference,
  verifyReceipt,
} from '../src/index.ts';

let service: Served;
let client: Client;
let trust: CheckedTrust;

beforeAll(async () => {
  service = await serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_FREE_MINT_PER_DAY: '0' });
  client = createClient({ baseUrl: service.url });
  trust = await client.fetchTrust();
});

describe('mintFree', () => {
  test('gives an envelope of the input, and its text', async () => {
    const { receipt, text } = await client.mintFree({ input: 'hello ☃', purpose: 'test' });
    expectTypeOf(receipt).toEqualTypeOf<EnvelopeReceipt>();
    expect(receipt.request).toMatchObject({ hash: `sha256:${sha256Hex(utf8('hello ☃'))}`, purpose: 'test' });
    expect(JSON.parse(text)).toEqual(receipt);
    expect(await verifyReceipt(text, { trust })).toMatchObject({ valid: true, issuer: { trusted: true } });
  });

  test('signs what the caller says of policy and response as declared', async () => {
    const hash = `sha256:${'ab'.repeat(32)}`;
    const said = { policyHash: hash, responseHash: hash, responseSealed: false };
    const { receipt, text } = await client.mintFree({ input: 'x', purpose: 'p', ...said });
    expect(receipt).toMatchObject({
      declared: ['request.policy_hash', 'response.hash', 'response.sealed'],
      request: { policy_hash: hash },
      response: { hash, sealed: false },
    });
    expect(await verifyReceipt(text, { trust })).toMatchObject({ valid: true, issuer: { trusted: true } });
  });

  test('names the agent, who can then counter-sign', async () => {
    const agent = await createSigner(generateSecretKey());
    const { receipt } = await createClient({ baseUrl: service.url, agentDid: agent.keyId }).mintFree({
      input: 'x',
      purpose: 'p',
    });
    const signed = await countersign(receipt, 'requester', agent);
    const { checks } = await verifyReceipt(signed, { trust });
    expect(checks.find(({ name }) => name === 'signature_requester')).toMatchObject({ ok: true });
  });

  test('acts once for one idempotency key', async () => {
    const params = { input: 'once', purpose: 'p' };
    const call = { idempotencyKey: 'order-42' };
    const first = await client.mintFree(params, call);
    expect((await client.mintFree(params, call)).text).toBe(first.text);
    expect((await client.mintFree(params)).text).not.toBe(first.text);
    await expect(client.mintFree({ ...params, input: 'twice' }, call)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  test('rejects with the code, status and field of the service', async () => {
    const error = await client.mintFree({ input: '', purpose: 'p' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'empty_input', status: 422, field: 'input', retryAfter: null });
    await expect(client.mintFree({ input: 'x', purpose: 'p', anchor: true })).rejects.toMatchObject({
      code: 'api_key_missing',
    });
  });
});

describe('emit', () => {
  test('gives the receipt of the profile', async () => {
    const payload = { order: 42, total: '19.90' };
    const nano = (await client.emit({ profile: 'nano', payload })).receipt;
    const standard = (await client.emit({ payload })).receipt;
    const pq = (await client.emit({ profile: 'pq', payload, auditorVerifier: true })).receipt;
    expectTypeOf(nano).toEqualTypeOf<NanoReceipt>();
    expectTypeOf(standard).toEqualTypeOf<StandardReceipt>();
    expectTypeOf(pq).toEqualTypeOf<PqReceipt>();
    const hash = sha256Hex(canonicalBytes(payload));
    expect([standard.subject.sha256, pq.subject.sha256]).toEqual([hash, hash]);
    expect(fromBase64url(nano.h, 32)).toEqual(Uint8Array.from(Buffer.from(hash, 'hex')));
    expect(pq).toMatchObject({ receipt_profile: 'pq', auditor_verifier: true });
  });

  test('says that the agent proved its DID where the client signs', async () => {
    const signer = await createSigner(generateSecretKey());
    const agent = createClient({ baseUrl: service.url, agent: { did: signer.keyId, signer } });
    const { receipt } = await agent.emit({ input: 'x' });
    expect(receipt).toMatchObject({
      agent_did: signer.keyId,
      agent_proved: true,
      reputation_context: { reputation_tier: 'unregistered' },
    });
    await fetch(`${service.url}/v1/compute/member/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ did: signer.keyId }),
    });
    for (const profile of ['standard', 'pq'] as const) {
      expect((await agent.emit({ input: 'x', profile })).receipt.reputation_context).toEqual({
        reputation_tier: 'member',
      });
    }
    const other = await createSigner(generateSecretKey());
    const forger = createClient({ baseUrl: service.url, agent: { did: signer.keyId, signer: other } });
    await expect(forger.emit({ input: 'x' })).rejects.toMatchObject({
      code: 'signature_invalid',
      status: 401,
    });
  });

  test('sends every member in the form of the wire', async () => {
    const key = new Uint8Array(32).fill(7);
    const sealed = await seal(utf8('secret'), key);
    const { receipt, text } = await client.emit({
      profile: 'pq',
      payloadSha256: 'ab'.repeat(32),
      agentDid: 'did:web:agent.example',
      purpose: 'archive',
      contentType: 'application/pdf',
      ok: false,
      settlementReference: { rail: 'x402', chainId: 8453, asset: 'USDC', tx: '0x01' },
      seal: sealReference(sealed),
      sealedEvidenceRef: 'urn:evidence:1',
      auditorVerifier: false,
    });
    expect(receipt).toMatchObject({
      agent_did: 'did:web:agent.example',
      purpose: 'archive',
      subject: { sha256: 'ab'.repeat(32), content_type: 'application/pdf', ok: false },
      settlement_reference: { rail: 'x402', chain_id: 8453, asset: 'USDC', tx: '0x01', status: 'declared' },
      seal: { sealed: true, ...sealReference(sealed) },
      sealed_evidence_ref: 'urn:evidence:1',
      auditor_verifier: false,
    });
    expect(await verifyReceipt(text, { trust })).toMatchObject({ valid: true, profile: 'pq' });
    expect(await openSeal(sealed, key, sealReference(sealed))).toEqual(utf8('secret'));
  });

  test('takes one subject, by type', () => {
    const refusedByTypes = (): unknown[] => [
      // @ts-expect-error two subjects
      client.emit({ input: 'x', payload: {} }),
      // @ts-expect-error none
      client.emit({ profile: 'nano' }),
      // @ts-expect-error no such profile
      client.emit({ profile: 'micro', input: 'x' }),
    ];
    expect(refusedByTypes).toBeTypeOf('function');
    expectTypeOf<keyof ReceiptOfProfile>().toEqualTypeOf<Profile>();
  });

  test.each([
    ['a function', { at: () => 1 }, 'payload.at'],
    ['a date', [new Date()], 'payload[0]'],
    ['half of a surrogate pair', { text: '\ud800' }, 'payload.text'],
  ])('refuses %s in the payload before anything is sent', async (_, payload, field) => {
    await expect(client.emit({ payload })).rejects.toMatchObject({ field });
  });
});

test('getReceipt gives the text as it was answered', async () => {
  const { receipt, text } = await client.mintFree({ input: 'keep', purpose: 'p' });
  expect((await client.getReceipt(receipt.receipt_id)).text).toBe(text);
  await expect(client.getReceipt('r_env_1700000000_0123456789ab')).rejects.toMatchObject({
    code: 'receipt_not_found',
  });
  await expect(client.getReceipt('../../pricing?x#')).rejects.toMatchObject({ status: 404 });
});

describe('verify', () => {
  test('gives the verdict that verifyReceipt gives, whatever form the receipt has', async () => {
    const { receipt, text } = await client.emit({ input: 'x' });
    const withoutTime = ({ verified_at: _at, ...verdict }: Awaited<ReturnType<typeof verify>>) => verdict;
    const local = withoutTime(await verifyReceipt(receipt, { trust }));
    for (const form of [receipt, text, utf8(text)]) {
      expect(withoutTime(await client.verify(form))).toEqual(local);
      expect(withoutTime(await verifyReceipt(form, { trust }))).toEqual(local);
    }
  });

  test('sees a change', async () => {
    const { receipt } = await client.emit({ input: 'x' });
    const changed = { ...receipt, purpose: 'another' };
    expect(await client.verify(changed)).toMatchObject({ valid: false });
    expect(await verifyReceipt(changed, { trust })).toMatchObject({ valid: false });
  });

  test('refuses text that is not JSON here, and what is no receipt there', async () => {
    await expect(client.verify('{"a":1,"a":1}')).rejects.toMatchObject({ code: 'json_duplicate_member' });
    await expect(client.verify({})).rejects.toMatchObject({ code: 'not_a_receipt', status: 422 });
  });
});

describe('verifyMany', () => {
  test('keeps the order over several requests', async () => {
    const { text } = await client.emit({ profile: 'nano', input: 'x' });
    const forged = text.replace('"ok":true', '"ok":false');
    const receipts = Array.from({ length: 1_203 }, (_, i) => (i % 7 === 0 ? forged : text));
    const verdicts = await client.verifyMany(receipts, { idempotencyKey: 'one for all' });
    expect(verdicts.map(({ valid }) => valid)).toEqual(receipts.map((receipt) => receipt === text));
  });

  test('keeps each request within what the service takes', async () => {
    const { text } = await client.emit({ profile: 'pq', input: 'x', purpose: '☃'.repeat(20_000) });
    const verdicts = await client.verifyMany(Array<string>(40).fill(text));
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(40);
  });

  test('of none asks nobody', async () => {
    expect(await createClient({ baseUrl: 'http://127.0.0.1:1' }).verifyMany([])).toEqual([]);
  });
});

test('pricing and selectProfile', async () => {
  const ladder = await client.pricing();
  expect(ladder.profiles.find((profile) => profile.default)).toMatchObject({
    profile: 'standard',
    price_usd: '0.0008',
  });
  expect(ladder.anchor_tiers.map(({ key_prefix }) => key_prefix)).toEqual([
    null,
    'k_pro_',
    'k_scale_',
    'k_ent_',
  ]);
  expect(await client.selectProfile({ intent: 'sell', amount: '0.001' })).toMatchObject({
    recommended_profile: 'nano',
  });
  const party = { name: 'Bank', jurisdiction: undefined, regulated: true };
  expect(await client.selectProfile({ counterparty: party })).toMatchObject({ rule: 'regulated' });
});

describe('issuers', () => {
  test('are registered with proof of possession, and read back', async () => {
    const key = await createSigner(generateSecretKey());
    const record = await client.registerIssuer({ handle: 'acme-robots', key });
    expect(record).toMatchObject({
      did: 'did:svc:acme-robots',
      status: 'registered',
      keys: [{ key_id: key.keyId }],
    });
    expect(await client.issuer('did:svc:acme-robots')).toEqual(record);
    await expect(
      client.registerIssuer({ handle: 'acme-robots', key: generateSecretKey() }),
    ).rejects.toMatchObject({
      code: 'issuer_exists',
    });
  });

  test('that are nobody are not found', async () => {
    await expect(client.issuer('did:svc:nobody')).rejects.toMatchObject({ code: 'issuer_not_found' });
    await expect(client.registerIssuer({ handle: 'No!', key: generateSecretKey() })).rejects.toMatchObject({
      code: 'invalid_did',
    });
  });

  test('whose record does not follow from its history are refused', async () => {
    await client.registerIssuer({ handle: 'forged', key: generateSecretKey() });
    const forging = createClient({
      baseUrl: service.url,
      fetch: async (url, init) => {
        const text = await (await fetch(url, init)).text();
        return new Response(text.replace('"state":"active"', '"state":"retired"'));
      },
    });
    await expect(forging.issuer('did:svc:forged')).rejects.toMatchObject({ code: 'issuer_proof_invalid' });
  });
});

describe('trust', () => {
  test('is pinned at the first fetch', async () => {
    const store = memoryTrustStore();
    await createClient({ baseUrl: service.url, trust: store }).fetchTrust({ root: trust.pin.root });
    // The service may have published a newer bundle since.
    expect(await store.load()).toMatchObject({
      pin: { root: trust.pin.root },
      bundle: { root: trust.bundle.root },
    });
  });

  test('of another root is refused, and what was saved stays', async () => {
    const other = await serve({ TALLY_DATA_DIR: temporaryFolder() });
    const store = memoryTrustStore({ pin: trust.pin, bundle: trust.bundle });
    const stranger = createClient({ baseUrl: other.url, trust: store });
    await expect(stranger.fetchTrust()).rejects.toMatchObject({ code: 'trust_root_mismatch' });
    await expect(stranger.fetchTrust({ root: `sha256:${'0'.repeat(64)}` })).rejects.toMatchObject({
      code: 'trust_root_mismatch',
    });
    expect(await store.load()).toEqual({ pin: trust.pin, bundle: trust.bundle });
    await other.kill('SIGTERM');
  });

  test('older than the pin is refused', async () => {
    const pin = { ...trust.pin, version: trust.pin.version + 1 };
    await expect(client.fetchTrust({ pin })).rejects.toMatchObject({ code: 'trust_rollback' });
    await expect(checkTrust(trust.bundle, { pin })).rejects.toMatchObject({ code: 'trust_rollback' });
  });

  test('names what it takes back of the bundle in the store', async () => {
    const root = await createSigner(generateSecretKey());
    const [issuer, ...others] = trust.bundle.issuers;
    const [key, ...keys] = issuer?.keys ?? [];
    if (issuer === undefined || key === undefined) throw new Error('The bundle lists no key.');
    const revoked = { at: '2026-01-01T00:00:00Z', reason: 'compromised' } as const;
    const served: string[] = [];
    const publish = async (more: object): Promise<void> => {
      const facts = { ...trust.bundle, issuedAt: Date.now(), expiresAt: Date.now() + 1e6, ...more };
      served.push(await signTrustBundle(facts, root));
    };
    await publish({ version: 2, issuers: [{ ...issuer, keys: [{ ...key, revoked }, ...keys] }, ...others] });
    await publish({ version: 3, previous_sha256: sha256Hex(utf8(served[0] ?? '')) });
    const deceived = createClient({ fetch: async () => new Response(served.shift() ?? null) });
    expect((await deceived.fetchTrust()).takenBack).toEqual([]);
    expect((await deceived.fetchTrust()).takenBack).toEqual([
      `The revocation of the key ${key.key_id} of ${issuer.did}, at ${revoked.at}, was taken back or weakened.`,
    ]);
  });

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['a text', '{'],
    ['half a character', '\ud800'],
    ['without members', {}],
    ['without issuers', { type: 'svc-trust-v1', issuers: null }],
  ])(
    'a damaged bundle in the store, %s, is replaced by one that its pin lets pass, and named',
    async (_, bundle) => {
      const store = memoryTrustStore({ pin: trust.pin, bundle: bundle as TrustBundle });
      const reader = createClient({ baseUrl: service.url, trust: store });
      const fetched = await reader.fetchTrust();
      expect(fetched.takenBack).toEqual([
        'The bundle that was kept is damaged, so nothing shows what the newer one takes back of it.',
      ]);
      expect(await store.load()).toEqual({ pin: fetched.pin, bundle: fetched.bundle });
      expect((await reader.fetchTrust()).takenBack).toEqual([]);
    },
  );

  test('a bundle in the store that is not the one of its pin is not compared with', async () => {
    const store = memoryTrustStore({ pin: trust.pin, bundle: { ...trust.bundle, log: null } });
    const { takenBack } = await createClient({ baseUrl: service.url, trust: store }).fetchTrust();
    expect(takenBack).toEqual([expect.stringContaining('The bundle that was kept is damaged')]);
  });

  test('a damaged bundle in the store does not let an older one pass', async () => {
    const pin = { ...trust.pin, version: trust.pin.version + 1000 };
    const saved = { pin, bundle: {} as TrustBundle };
    const store = memoryTrustStore(saved);
    const reader = createClient({ baseUrl: service.url, trust: store });
    await expect(reader.fetchTrust()).rejects.toMatchObject({ code: 'trust_rollback' });
    expect(await store.load()).toEqual(saved);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'pin'],
    ['null', null, 'pin'],
    ['no root', { version: 1, bundle_sha256: '0'.repeat(64) }, 'pin.root'],
    ['a version that is a text', { root: `sha256:${'0'.repeat(64)}`, version: '1' }, 'pin.version'],
  ])('a store whose pin is %s counts as damaged, not as empty', async (_, damaged, field) => {
    const saved = { pin: damaged as TrustPin, bundle: trust.bundle };
    const store = memoryTrustStore(saved);
    const reader = createClient({ baseUrl: service.url, trust: store });
    const refused = { code: 'trust_invalid', field };
    await expect(reader.fetchTrust()).rejects.toMatchObject(refused);
    await expect(reader.fetchTrust({ root: trust.pin.root })).rejects.toMatchObject(refused);
    await expect(reader.trustVersion(1)).rejects.toMatchObject(refused);
    await expect(verifyReceipt('{}', { trust: store })).rejects.toMatchObject(refused);
    expect(await store.load()).toEqual(saved);
    // A pin that was kept elsewhere too makes the store whole again.
    const fetched = await reader.fetchTrust({ pin: trust.pin });
    expect(fetched.takenBack).toHaveLength(1);
    expect(await store.load()).toEqual({ pin: fetched.pin, bundle: fetched.bundle });
  });

  test('decides who is trusted: nobody without it', async () => {
    const { text } = await client.mintFree({ input: 'x', purpose: 'p' });
    const store = memoryTrustStore({ pin: trust.pin, bundle: trust.bundle });
    expect(await verifyReceipt(text)).toMatchObject({
      valid: true,
      issuer: { trusted: false, status: 'unknown' },
    });
    expect(await verifyReceipt(text, { trust: store })).toMatchObject({
      issuer: { trusted: true, status: 'verified' },
    });
    await expect(verifyReceipt(text, { trust: memoryTrustStore() })).rejects.toMatchObject({
      code: 'trust_unavailable',
    });
  });

  test('expires also while it is held', async () => {
    const { text } = await client.mintFree({ input: 'x', purpose: 'p' });
    const now = Date.parse(trust.bundle.expires_at);
    const store = memoryTrustStore({ pin: trust.pin, bundle: trust.bundle });
    for (const held of [trust, store]) {
      await expect(verifyReceipt(text, { trust: held, now })).rejects.toMatchObject({
        code: 'trust_expired',
      });
      expect(await verifyReceipt(text, { trust: held, now: now - 1_000 })).toMatchObject({ valid: true });
    }
  });

  test('in a store that was tampered with is refused', async () => {
    const bundle = { ...trust.bundle, issuers: [] };
    const store = memoryTrustStore({ pin: trust.pin, bundle });
    await expect(verifyReceipt('{}', { trust: store })).rejects.toMatchObject({
      code: 'trust_signature_invalid',
    });
  });
});

test('evidenceLeaf is the same before and after a counter-signature', async () => {
  const agent = await createSigner(generateSecretKey());
  const named = createClient({ baseUrl: service.url, agentDid: agent.keyId });
  const { receipt, text } = await named.mintFree({ input: 'unit 3', purpose: 'pick' });
  const leaf = evidenceLeaf(3, text);
  expect(leaf).toEqual({ unit: 3, receipt_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect(evidenceLeaf(3, await countersign(receipt, 'requester', agent))).toEqual(leaf);
});
