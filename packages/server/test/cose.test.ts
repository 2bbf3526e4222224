import { randomBytes } from 'node:crypto';
import { COSEKey, Sign1 } from '@auth0/cose';
import { type IssuerRecord, leafHash, sha256, toBase64url, toHex, trustOf } from '@tallystick/core';
import { verifyForeign } from '@tallystick/core/foreign';
import * as transmute from '@transmute/cose';
import { decode, Tagged } from 'cborg';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { didKeyOf } from '../../core/src/did/key.ts';
import { hashOf } from './hashes.ts';
import { apiKey, DATABASES, expectProblem, startTestService, type TestService } from './service.ts';

const COSE = { 'content-type': 'application/cose' };

/** Reads CBOR with the tag of a COSE_Sign1. */
const read = (bytes: Uint8Array): unknown => decode(bytes, { useMaps: true, tags: Tagged.preserve(18) });

const keyPair = async () => {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const { x = '' } = await exportJWK(publicKey);
  return { privateKey, public_key: x, key_id: didKeyOf(Buffer.from(x, 'base64url')) };
};

/**
 * Makes a Signed Statement with another implementation, under a did:key.
 * @param options `issuer` of the statement, by default that did:key; `by` the key, by default a fresh one
 */
async function statement({
  issuer,
  by,
}: {
  issuer?: string;
  by?: Awaited<ReturnType<typeof keyPair>>;
} = {}): Promise<Uint8Array> {
  const { privateKey, key_id: signer } = by ?? (await keyPair());
  const claims = new Map([
    [1, issuer ?? signer],
    [2, 'pkg:example/thing@1'],
  ]);
  const header = new Map<number, unknown>([
    [1, -8],
    [4, Buffer.from(signer)],
    [15, claims],
  ]);
  return (await Sign1.sign(header as never, new Map() as never, randomBytes(40), privateKey)).encode();
}

describe.each(DATABASES)('COSE and SCITT on %s', (database) => {
  let service: TestService;
  let key: { authorization: string };
  beforeAll(async () => {
    service = await startTestService({ database });
    key = await apiKey(service, 'scale');
  });
  afterAll(() => service.close());

  const download = async (
    path: string,
  ): Promise<{ status: number; type: string | null; bytes: Uint8Array }> => {
    const answer = await service.app.request(path);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, type: answer.headers.get('content-type'), bytes };
  };

  const covered = (path: string): Promise<Uint8Array> =>
    vi.waitFor(async () => {
      const { status, type, bytes } = await download(path);
      expect({ status, type }).toEqual({ status: 200, type: 'application/cose' });
      return bytes;
    }, 60_000);

  /** Verifies by implementations of others: the path by one, the signature over the root that it leads to by another. */
  async function verifierOfOthers() {
    const { bytes } = await download('/.well-known/scitt-keys');
    const [published] = decode(bytes, { useMaps: true }) as Map<number, Uint8Array>[];
    const coseKey = await new COSEKey(published as never).toKeyLike();
    const verify = async (receipt: Uint8Array, hash: Uint8Array): Promise<void> => {
      let root: Uint8Array | undefined;
      await transmute.receipt.inclusion.verify({
        entry: leafHash(hash),
        receipt: transmute.cbor.toArrayBuffer(receipt),
        verifier: {
          verify: async ({ payload }: { payload: Uint8Array }) => {
            root = new Uint8Array(payload);
          },
        } as never,
      });
      await Sign1.decode(receipt).verify(coseKey, { detachedPayload: root! });
    };
    return { published, verify };
  }

  it('gives a receipt that implementations of others verify, under the published key', async () => {
    const hash = hashOf('cose');
    const sent = await service.post('/v1/anchor', { canonical_sha256: hash }, key);
    const { anchor_ref } = sent.json as { anchor_ref: string };
    const receipt = await covered(`/v1/anchor/${encodeURIComponent(anchor_ref)}/receipt.cbor`);

    const { published, verify } = await verifierOfOthers();
    await verify(receipt, Buffer.from(hash, 'base64url'));
    await expect(verify(receipt, randomBytes(32))).rejects.toThrow('signature verification failed');

    const one = await download(`/.well-known/scitt-keys/${toBase64url(published!.get(2)!)}`);
    expect(decode(one.bytes, { useMaps: true })).toEqual(published);
    expectProblem(await service.get('/.well-known/scitt-keys/AAAA'), 'not_found');
  });

  it('is trusted by the service’s own record, and by no other', async () => {
    const hash = hashOf('cose');
    const receipt = await covered(`/v1/anchor/${hash}/receipt.cbor`);
    const entry = Buffer.from(hash, 'base64url');
    const options = { now: service.clock(), trust: service.services.trust.issuers() };
    const verdict = await verifyForeign(receipt, { ...options, entry });
    expect(verdict).toMatchObject({ family: 'cose_receipt', valid: true, issuer: { trusted: true } });
    expect(await verifyForeign(receipt, { now: options.now, entry })).toMatchObject({ valid: false });
    expect(await verifyForeign(receipt, options)).toMatchObject({ valid: false });
    const record = options.trust.issuer(service.services.issuer.did)!;
    const withState = (state: IssuerRecord['keys'][number]['state']) =>
      trustOf([{ ...record, keys: record.keys.map((one) => ({ ...one, state })) }]);
    for (const [state, valid] of [
      ['active', true],
      ['pending', false],
    ] as const)
      expect(await verifyForeign(receipt, { ...options, entry, trust: withState(state) })).toMatchObject({
        valid,
      });
    expect(await verifyForeign(receipt, { ...options, entry: randomBytes(32) })).toMatchObject({
      valid: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'signature', ok: false })]),
    });
  });

  it('registers a statement: its hash enters the log, and the receipt is at its address', async () => {
    const sent = await statement();
    const answer = await service.post('/entries', sent, { ...key, ...COSE });
    expect([201, 303]).toContain(answer.status);
    const location = answer.headers.get('location') ?? '';
    const hash = sha256(sent);
    expect(location.endsWith(`/entries/${toBase64url(hash)}`)).toBe(true);
    const receipt = await covered(new URL(location).pathname);
    const { value } = read(receipt) as { value: [Uint8Array, Map<number, unknown>, null, Uint8Array] };
    const header = decode(value[0], { useMaps: true }) as Map<number, Map<number, string>>;
    expect(header.get(395)).toBe(1);
    expect(header.get(15)).toEqual(
      new Map([
        [1, service.services.issuer.did],
        [2, `sha256:${toHex(hash)}`],
      ]),
    );
    const verdict = await verifyForeign(receipt, {
      now: service.clock(),
      trust: service.services.trust.issuers(),
      entry: hash,
    });
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
    const { verify } = await verifierOfOthers();
    await verify(receipt, hash);
    await expect(verify(receipt, randomBytes(32))).rejects.toThrow('signature verification failed');
  });

  it('registers a statement of a registered issuer by a key that signs for it now, and by no other', async () => {
    const [active, retired] = [await keyPair(), await keyPair()];
    const times = { purpose: 'receipt', valid_from: '2027-01-01T00:00:00Z', revoked: null };
    const listed = ({ key_id, public_key }: typeof active, more: object) => ({
      key_id,
      public_key,
      ...times,
      ...more,
    });
    const record = {
      did: 'did:svc:states',
      status: 'registered',
      keys: [
        listed(active, { state: 'active', valid_until: null }),
        listed(retired, { state: 'retired', valid_until: '2027-02-01T00:00:00Z' }),
      ],
    };
    await service.services.store.putIssuer(record.did, JSON.stringify(record), 1);
    const post = (body: Uint8Array) => service.post('/entries', body, { ...key, ...COSE });
    const good = await post(await statement({ issuer: record.did, by: active }));
    expect([201, 303]).toContain(good.status);
    for (const by of [retired, undefined])
      expectProblem(
        await post(await statement({ issuer: record.did, ...(by && { by }) })),
        'statement_unverified',
      );
  });

  it('refuses a statement that nobody known signed, and takes nothing of it', async () => {
    const good = await statement();
    const changed = good.slice();
    changed[changed.length - 1]! ^= 1;
    const { privateKey } = await generateKeyPair('EdDSA');
    const nameless = (
      await Sign1.sign(new Map([[1, -8]]) as never, new Map() as never, randomBytes(8), privateKey)
    ).encode();
    const post = (body: Uint8Array, headers = {}) =>
      service.post('/entries', body, { ...key, ...COSE, ...headers });
    expectProblem(await post(changed), 'statement_unverified');
    expectProblem(await post(nameless), 'statement_unverified');
    const foreign = await Promise.all(
      [
        didKeyOf(randomBytes(32)),
        'did:key:z6Mk',
        service.services.issuer.signer('receipt').keyId,
        service.services.issuer.did,
      ].map((issuer) => statement({ issuer })),
    );
    for (const body of foreign) expectProblem(await post(body), 'statement_unverified');
    expectProblem(await post(good.slice(0, -3)), 'cose_invalid');
    expectProblem(await post(Buffer.from('d2848080', 'hex')), 'cose_invalid');
    expectProblem(await post(new Uint8Array(1_048_577)), 'body_too_large');
    expectProblem(
      await service.post('/entries', good, { ...key, 'content-type': 'application/json' }),
      'unsupported_media_type',
    );
    expectProblem(await service.post('/entries', good, COSE), 'api_key_missing');
    for (const body of [changed, nameless, ...foreign])
      expectProblem(await service.get(`/entries/${toBase64url(sha256(body))}`), 'anchor_not_found');
  });
});

it('a receipt of another log, made by another implementation, is verified with its key', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256' };
  const secret = { ...(await exportJWK(privateKey)), alg: 'ES256' };
  const data = ['a', 'b', 'c'].map((text) => Buffer.from(text));
  const receipt = await transmute.receipt.inclusion.issue({
    protectedHeader: transmute.ProtectedHeader([
      [1, -7],
      [395, 1],
    ] as never),
    entry: 1,
    entries: data.map((one) => leafHash(one)) as never,
    signer: transmute.detached.signer({
      remote: transmute.crypto.signer({ privateKeyJwk: secret as never }),
    }) as never,
  });
  const bytes = new Uint8Array(receipt);
  const keys = [JSON.stringify(jwk)];
  const now = Date.UTC(2027, 2, 1);
  expect(await verifyForeign(bytes, { now, keys, entry: data[1] })).toMatchObject({
    valid: true,
    issuer: { trusted: true },
  });
  expect(await verifyForeign(bytes, { now, keys, entry: data[2] })).toMatchObject({ valid: false });
});
