import { describe, expect, test } from 'vitest';
import { ISSUED, ISSUED_AT, keyOf, NOW, recordOf, signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';
import { canonicalize } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { trustOf } from '../trust/issuer.ts';
import { verify } from '../verify.ts';
import { receiptId } from './id.ts';
import type { Issuance, ProfileFacts } from './profiles/profile.ts';
import type { Profile } from './profiles/registry.ts';
import { PROFILES } from './profiles/terms.ts';
import { emitReceipt } from './profiles.ts';

const signer = await signerOf(1);
const agent = await signerOf(5);
const random = '010203040506';
const trust = trustOf([recordOf('did:svc:alice', keyOf(signer))]);

const facts: ProfileFacts = {
  agentDid: 'did:svc:anonymous',
  agentProved: false,
  subject: { sha256: new Uint8Array(32).fill(0xab), contentType: 'application/json', ok: true },
  verifyUri: 'https://receipts.example.com/verify',
  purpose: null,
  settlement: { rail: 'x402', chain_id: 8453, asset: 'USDC', status: 'none', tx: null },
  seal: null,
  reputationTier: 'unregistered',
  sealedEvidenceRef: null,
  auditorVerifier: false,
};

const issuanceOf = (profile: Profile): Issuance => ({
  receiptId: receiptId(profile, ISSUED, random),
  issuedAt: ISSUED * 1000,
  issuerDid: 'did:svc:alice',
  issuerVerified: true,
});
const emit = (profile: Profile, changes: Partial<ProfileFacts> = {}): Promise<string> =>
  emitReceipt(profile, { ...facts, ...changes }, issuanceOf(profile), signer);

const parsed = (text: string): JsonObject => parseJson(utf8(text)) as JsonObject;
const bytesOf = (text: string): number => utf8(text).length;

const tooLarge = (limit: number): unknown =>
  expect.objectContaining({
    code: 'receipt_too_large',
    message: expect.stringContaining(`${limit} bytes`) as unknown,
  });

describe.each(PROFILES)('%s', (profile) => {
  test('is emitted canonical, valid and trusted', async () => {
    const text = await emit(profile, { purpose: 'naïve ☃', agentProved: true });
    const receipt = parsed(text);
    expect(canonicalize(receipt)).toBe(text);
    const verdict = await verify(receipt, { now: NOW, trust });
    expect(verdict).toMatchObject({
      valid: true,
      family: 'profile',
      profile,
      receipt_id: `r_${profile}_${ISSUED}_010203040506`,
      issuer: { did: 'did:svc:alice', trusted: true },
    });
    expect(verdict.checks.map(({ name }) => name)).toEqual([
      'format',
      'size',
      'key',
      'signature',
      'issued_at',
      'issuer',
      'key_window',
      'anchor',
    ]);
  });

  test('says what it was told of its subject', async () => {
    const receipt = parsed(await emit(profile, { subject: { ...facts.subject, ok: false } }));
    const { sha256, contentType } = facts.subject;
    const said = { h: Buffer.from(sha256).toString('base64url'), t: contentType, ok: false, ts: ISSUED };
    const inFull = {
      subject: { sha256: toHex(sha256), content_type: contentType, ok: false },
      issued_at: ISSUED_AT,
    };
    expect(receipt).toMatchObject(profile === 'nano' ? said : inFull);
  });
});

describe('sizes', () => {
  /** A purpose, or for nano a content type, of so many bytes. */
  const stretched = async (
    profile: 'nano' | 'standard',
    bytes: number,
    character: string,
  ): Promise<string> => {
    const width = bytesOf(character);
    const filler = character.repeat(Math.floor(bytes / width)) + '.'.repeat(bytes % width);
    return emit(
      profile,
      profile === 'nano' ? { subject: { ...facts.subject, contentType: filler } } : { purpose: filler },
    );
  };

  test.each([
    ['nano', 600, 'a'],
    ['nano', 600, 'é'],
    ['nano', 600, '☃'],
    ['nano', 600, '𝄞'],
    ['standard', 3072, 'a'],
    ['standard', 3072, 'é'],
    ['standard', 3072, '☃'],
    ['standard', 3072, '𝄞'],
  ] as const)(
    '%s: exactly %i bytes of %s are emitted, one more is refused',
    async (profile, limit, character) => {
      const room = limit - bytesOf(await stretched(profile, 1, '.')) + 1;
      const full = await stretched(profile, room, character);
      expect(bytesOf(full)).toBe(limit);
      expect(await verify(parsed(full), { now: NOW, trust })).toMatchObject({
        valid: true,
        issuer: { trusted: true },
      });
      await expect(stretched(profile, room + 1, character)).rejects.toEqual(tooLarge(limit));
    },
  );

  test('pq has no limit', async () => {
    expect(bytesOf(await emit('pq', { purpose: 'a'.repeat(10_000) }))).toBeGreaterThan(10_000);
  });

  test.each(['http://127.0.0.1:8787/verify', 'https://receipts.example.com/verify'])(
    'nano of an ordinary did:key agent, verified at %s, aims at 460 bytes',
    async (verifyUri) => {
      const size = bytesOf(await emit('nano', { agentDid: agent.keyId, verifyUri }));
      expect(size).toBeLessThanOrEqual(460);
    },
  );

  test('a larger receipt fails in the verifier too, whoever signed it', async () => {
    const { receipt, ...body } = parsed(await emit('nano'));
    const larger = { ...body, t: 'a'.repeat(400), receipt };
    const { checks } = await verify(larger, { now: NOW });
    expect(checks.find(({ name }) => name === 'size')).toMatchObject({ ok: false });
  });

  test('unsigned members do not count', async () => {
    const anchored = {
      ...parsed(await emit('nano')),
      anchor: { proof: 'a'.repeat(3000) },
      anchor_ref: 'urn:anchor:x',
      tier: 'pro',
    };
    expect(await verify(anchored, { now: NOW, trust })).toMatchObject({
      valid: true,
      issuer: { trusted: true },
    });
  });
});

describe('a receipt id', () => {
  test('takes 12 random hex characters', () => {
    expect(receiptId('env', ISSUED, random)).toBe(`r_env_${ISSUED}_010203040506`);
    for (const other of ['', random.slice(1), `${random}0`, random.replace('0', 'A'), `${random}\n`]) {
      expect(() => receiptId('env', ISSUED, other)).toThrow(
        expect.objectContaining({ code: 'invalid_field' }) as Error,
      );
    }
  });
});
