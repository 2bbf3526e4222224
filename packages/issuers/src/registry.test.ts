import {
  canonicalize,
  checkIssuerDocument,
  checkTrustBundle,
  copyJson,
  type JsonObject,
  type Signer,
  toBase64url,
  trustOf,
  utf8,
  verify,
} from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DATABASES, expectProblem, startTestService, type TestService } from '../../server/test/service.ts';
import { change, freshSigner, registration } from '../../server/test/statements.ts';
import { approveIssuer, refreshTrust } from './trust-bundle.ts';

const DID = 'did:svc:acme';
const RECORD = `/.well-known/issuers/${DID}.json`;

/** An issuer's own receipt, as the SDKs sign one. */
async function issued(key: Signer, now: number, more: JsonObject): Promise<string> {
  const body = {
    type: 'svc-issue-v1',
    receipt_id: `r_issue_${Math.floor(now / 1000)}_0123456789ab`,
    symbol: 'ACME',
    units: 1,
    amount_usd: 2.5,
    recipient: '0xabc',
    issued_at: new Date(now).toISOString(),
    issuer_pubkey: toBase64url(key.publicKey),
    issuer_verified: false,
    ...more,
  };
  return canonicalize({ ...body, sig_b64u: toBase64url(await key.sign(utf8(canonicalize(body)))) });
}

describe.each(DATABASES)('the issuer registry on %s', (database) => {
  let service: TestService;
  let first: Signer;
  let second: Signer;
  beforeEach(async () => {
    service = await startTestService({ database });
    [first, second] = [await freshSigner(), await freshSigner()];
  });
  afterEach(() => service.close());

  const send = (statement: unknown) => service.post('/v1/issuers', canonicalize(copyJson(statement)));
  const register = async (did = DID, at = service.clock()) => send(await registration(did, first, at));
  const now = () => service.clock();

  it('registers, adds, retires and revokes; the published record replays', async () => {
    const registered = await register();
    expect(registered.status, registered.text).toBe(201);
    const steps = [
      change({ did: DID, sequence: 2, action: 'add_key', keyId: second.keyId, at: now() }, first, second),
      change({ did: DID, sequence: 3, action: 'retire_key', keyId: first.keyId, at: now() + 60_000 }, second),
      change(
        { did: DID, sequence: 4, action: 'revoke_key', keyId: first.keyId, reason: 'superseded', at: now() },
        second,
      ),
    ];
    for (const step of steps) expect((await send(await step)).status).toBe(200);
    await service.restart();
    const { json, status } = await service.get(RECORD);
    expect(status).toBe(200);
    await checkIssuerDocument(json);
    expect(json).toMatchObject({
      type: 'svc-issuer-v1',
      did: DID,
      status: 'registered',
      sequence: 4,
      keys: [
        { key_id: first.keyId, state: 'revoked', revoked: { reason: 'superseded' } },
        { key_id: second.keyId, state: 'active', purpose: 'receipt', valid_until: null },
      ],
    });
    expect(json.history).toHaveLength(4);
  });

  it('gives a handle once, also when ten ask at once', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, freshSigner));
    const replies = await Promise.all(keys.map(async (key) => send(await registration(DID, key, now()))));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(9);
    expectProblem(await register(), 'issuer_exists', 'statement.did');
  });

  it('one change wins when several of the same number come at once', async () => {
    await register();
    const keys = await Promise.all(Array.from({ length: 8 }, freshSigner));
    const replies = await Promise.all(
      keys.map(async (key) =>
        send(
          await change({ did: DID, sequence: 2, action: 'add_key', keyId: key.keyId, at: now() }, first, key),
        ),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ json }) => json.code === 'issuer_conflict')).toHaveLength(7);
    expect((await service.get(RECORD)).json.keys).toHaveLength(2);
  });

  it('keeps some handles back, and refuses what is none', async () => {
    for (const handle of ['anonymous', 'svc', 'member', 'root', 'admin', 'tallystick', 'local']) {
      expectProblem(await register(`did:svc:${handle}`), 'issuer_exists', 'statement.did');
    }
    for (const did of [
      'did:svc:Acme',
      'did:svc:-a',
      'did:svc:a:b',
      'did:web:acme.com',
      `did:svc:${'a'.repeat(64)}`,
    ]) {
      expectProblem(await register(did), 'invalid_field', 'statement.did');
    }
  });

  it('refuses what is not made to it, or not now', async () => {
    const elsewhere = await change(
      { did: DID, sequence: 1, action: 'register', keyId: first.keyId, at: now() },
      first,
    );
    expectProblem(
      await send({ ...elsewhere, statement: { ...elsewhere.statement, audience: 'did:svc:another' } }),
      'invalid_field',
      'statement.audience',
    );
    for (const off of [-302_000, 302_000]) {
      expectProblem(await register(DID, now() + off), 'invalid_field', 'statement.at');
    }
    expect((await register(DID, now() - 299_000)).status).toBe(201);
  });

  it('refuses statements without proof', async () => {
    const registering = await registration(DID, first, now());
    const forged = await registration(DID, second, now());
    expectProblem(
      await send({ ...registering, signature: forged.signature }),
      'issuer_proof_invalid',
      'signature',
    );
    await register();
    const add = { did: DID, sequence: 2, action: 'add_key', keyId: second.keyId, at: now() } as const;
    const good = await change(add, first, second);
    expectProblem(await send({ ...good, proof: null }), 'issuer_proof_invalid', 'proof');
    expectProblem(await send({ ...good, proof: good.signature }), 'issuer_proof_invalid', 'proof');
    expectProblem(
      await send(await change(add, second, second)),
      'issuer_proof_invalid',
      'statement.signed_by',
    );
    const revoke = { did: DID, sequence: 2, action: 'revoke_key', keyId: first.keyId, at: now() } as const;
    expectProblem(await send(await change(revoke, second)), 'issuer_proof_invalid', 'statement.signed_by');
    expect((await send(good)).status).toBe(200);
  });

  it('refuses a wrong number and an issuer that is not there', async () => {
    const add = { did: DID, action: 'add_key', keyId: second.keyId, at: now() } as const;
    expectProblem(
      await send(await change({ ...add, sequence: 2 }, first, second)),
      'issuer_not_found',
      'statement.did',
    );
    await register();
    for (const sequence of [1, 3]) {
      expectProblem(
        await send(await change({ ...add, sequence }, first, second)),
        'issuer_conflict',
        'statement.sequence',
      );
    }
    expectProblem(await service.get('/.well-known/issuers/did:svc:nobody.json'), 'issuer_not_found');
    expectProblem(await service.get(`/.well-known/issuers/${DID}`), 'issuer_not_found');
  });

  it('a registered issuer gets one verdict from the service and offline, by the bundle', async () => {
    await register();
    const receipts = await Promise.all([
      issued(first, now(), { issuer_did: DID }),
      issued(first, now(), { issuer_did: DID, issuer_verified: true }),
      issued(second, now(), { issuer_did: DID }),
    ]);
    await vi.waitFor(
      async () => {
        const { json } = await service.get('/.well-known/trust.json');
        expect((json.issuers as JsonObject[]).map(({ did }) => did)).toContain(DID);
      },
      { timeout: 60_000 },
    );
    const published = (await service.get('/.well-known/trust.json')).text;
    const { bundle } = await checkTrustBundle(JSON.parse(published), { now: now() });
    const trust = trustOf(bundle.issuers, [bundle]);
    const statuses: string[] = [];
    for (const receipt of receipts) {
      const offline = await verify(JSON.parse(receipt), { now: now(), trust });
      const hosted = (await service.post('/v1/receipt/verify', receipt)).json;
      expect(hosted).toMatchObject({
        valid: offline.valid,
        issuer: { status: offline.issuer.status, trusted: false, key_state: offline.issuer.key_state },
      });
      statuses.push(offline.issuer.status);
    }
    expect(statuses).toEqual(['registered', 'contradicted', 'contradicted']);
  });

  it('a registered issuer’s receipt is valid, and trusted only once the operator approves', async () => {
    await register();
    const plain = await issued(first, now(), { issuer_did: DID });
    const boasting = await issued(first, now(), { issuer_did: DID, issuer_verified: true });
    const stranger = await issued(second, now(), { issuer_did: DID });
    const verdictOn = async (receipt: string) => (await service.post('/v1/receipt/verify', receipt)).json;
    expect(await verdictOn(plain)).toMatchObject({
      valid: true,
      issuer: { did: DID, status: 'registered', trusted: false },
    });
    expect(await verdictOn(boasting)).toMatchObject({
      valid: false,
      integrity: true,
      issuer: { trusted: false },
    });
    expect(await verdictOn(stranger)).toMatchObject({ valid: false, issuer: { status: 'contradicted' } });

    const { store, issuer, trust } = service.services;
    await approveIssuer(store, DID);
    await refreshTrust(store, issuer.keyring, now());
    await trust.refresh();
    for (const receipt of [plain, boasting]) {
      expect(await verdictOn(receipt)).toMatchObject({
        valid: true,
        issuer: { status: 'verified', trusted: true },
      });
    }
    expect(await verdictOn(stranger)).toMatchObject({ valid: false });
    const published = (await service.get(RECORD)).json;
    expect(published.status).toBe('verified');
    await checkIssuerDocument(published);
    const added = await send(
      await change(
        { did: DID, sequence: 2, action: 'add_key', keyId: second.keyId, at: now() },
        first,
        second,
      ),
    );
    expect(added.json).toMatchObject({ status: 'verified', sequence: 2 });
  });

  it('a key that was retired can’t revoke the present one', async () => {
    await register();
    await send(
      await change(
        { did: DID, sequence: 2, action: 'add_key', keyId: second.keyId, at: now() },
        first,
        second,
      ),
    );
    await send(
      await change({ did: DID, sequence: 3, action: 'retire_key', keyId: first.keyId, at: now() }, second),
    );
    service.clock.advance(3_600_000);
    const dated = {
      did: DID,
      sequence: 4,
      action: 'revoke_key',
      keyId: second.keyId,
      reason: 'compromised',
    } as const;
    for (const at of [now(), now() - 3_700_000]) {
      expectProblem(
        await send(await change({ ...dated, at }, first)),
        'issuer_proof_invalid',
        'statement.signed_by',
      );
    }
  });
});
