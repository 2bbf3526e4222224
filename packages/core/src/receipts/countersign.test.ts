import { describe, expect, test } from 'vitest';
import { ISSUED, KINDS, keyOf, NOW, recordOf, sampleReceipt, signerOf } from '../../test/sample-receipts.ts';
import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { KEY_PURPOSES, trustOf } from '../trust/issuer.ts';
import { verify } from '../verify.ts';
import { anchoredHash, countersign } from './countersign.ts';
import { type EnvelopeFacts, mintEnvelope } from './envelope.ts';
import type { Issuance } from './profiles/profile.ts';

const [service, requester, operator, foreign] = (await Promise.all([1, 5, 6, 7].map(signerOf))) as [
  Signer,
  Signer,
  Signer,
  Signer,
];

const facts: EnvelopeFacts = {
  request: {
    hash: `sha256:${'a'.repeat(64)}`,
    origin: requester.keyId,
    purpose: 'a test',
    policy_hash: null,
  },
  operator: { entity: 'did:svc:operator', region: null, training_region: null },
  hardware: { class: null, attestation: null },
  response: { hash: null, sealed: null },
  settlement: { chain: null, asset: null, tx: null },
};
const issuance: Issuance = {
  receiptId: `r_env_${ISSUED}_0123456789ab`,
  issuedAt: ISSUED * 1000,
  issuerDid: 'did:svc:alice',
  issuerVerified: true,
};
const trust = trustOf([
  recordOf('did:svc:alice', keyOf(service)),
  recordOf('did:svc:operator', keyOf(operator)),
]);

const parsed = (text: string): JsonObject => parseJson(utf8(text)) as JsonObject;
const mint = async (request: Partial<EnvelopeFacts['request']> = {}): Promise<JsonObject> =>
  parsed(await mintEnvelope({ ...facts, request: { ...facts.request, ...request } }, issuance, service));
const signedByBoth = async (receipt: JsonObject): Promise<JsonObject> =>
  parsed(await countersign(parsed(await countersign(receipt, 'requester', requester)), 'operator', operator));

const counterChecks = async (receipt: JsonObject, known = trust) => {
  const { checks, valid } = await verify(receipt, { now: NOW, trust: known });
  const okOf = (role: string) => checks.find(({ name }) => name === `signature_${role}`)?.ok;
  return { valid, requester: okOf('requester'), operator: okOf('operator') };
};

describe('counter-signatures', () => {
  test('are absent at first, then added in any order, and each is checked', async () => {
    const receipt = await mint();
    expect(await counterChecks(receipt)).toEqual({ valid: true, requester: null, operator: null });
    const once = parsed(await countersign(receipt, 'operator', operator));
    expect(await counterChecks(once)).toEqual({ valid: true, requester: null, operator: true });
    const both = parsed(await countersign(once, 'requester', requester));
    expect(await counterChecks(both)).toEqual({ valid: true, requester: true, operator: true });
    expect(both).toEqual(await signedByBoth(receipt));
  });

  test('sign what the service signed', async () => {
    const { signatures, ...body } = await signedByBoth(await mint());
    const { svc, ...counter } = signatures as Record<string, string>;
    expect(svc).toBe(Buffer.from(await service.sign(canonicalBytes(body))).toString('base64url'));
    expect(counter).toEqual({
      requester: Buffer.from(await requester.sign(canonicalBytes(body))).toString('base64url'),
      operator: Buffer.from(await operator.sign(canonicalBytes(body))).toString('base64url'),
    });
  });

  test('of the wrong key are refused where the receipt names a did:key', async () => {
    await expect(countersign(await mint(), 'requester', foreign)).rejects.toMatchObject({
      code: 'countersign_mismatch',
      field: 'request.origin',
    });
  });

  test('of the wrong key for any other DID fail once its keys are known', async () => {
    const receipt = parsed(await countersign(await mint(), 'operator', foreign));
    expect(await counterChecks(receipt)).toEqual({ valid: false, requester: null, operator: false });
    const unknown = trustOf([recordOf('did:svc:alice', keyOf(service))]);
    expect(await counterChecks(receipt, unknown)).toEqual({ valid: true, requester: null, operator: null });
  });

  test.each([
    ['a small-order R and S = 0', new Uint8Array(64)],
    ['an S that is not below the group order', new Uint8Array(64).fill(0xff, 32).fill(9, 0, 32)],
    ['an R that is not canonical', new Uint8Array(64).fill(0xff, 0, 32).fill(0, 32)],
  ])('that no key can have made fail, whether the DID’s keys are known or not: %s', async (_, bytes) => {
    for (const entity of ['did:svc:operator', 'did:svc:stranger', 'did:example:nobody'] as const) {
      const named = parsed(
        await mintEnvelope({ ...facts, operator: { ...facts.operator, entity } }, issuance, service),
      );
      const forged = {
        ...named,
        signatures: { ...(named.signatures as JsonObject), operator: toBase64url(bytes) },
      };
      const { valid, checks } = await verify(forged, { now: NOW, trust });
      expect({ valid, check: checks.find(({ name }) => name === 'signature_operator') }).toEqual({
        valid: false,
        check: {
          name: 'signature_operator',
          ok: false,
          detail: expect.stringMatching(/^No key can have made this signature: it has an (?:R|S) that is/),
        },
      });
    }
  });

  test.each(KEY_PURPOSES.filter((purpose) => purpose !== 'receipt'))(
    'by a key of the DID that is for %s fail, and the check says what the key is for',
    async (purpose) => {
      const receipt = parsed(await countersign(await mint(), 'operator', foreign));
      const known = trustOf([
        recordOf('did:svc:alice', keyOf(service)),
        recordOf('did:svc:operator', keyOf(operator), keyOf(foreign, { purpose })),
      ]);
      const { valid, checks } = await verify(receipt, { now: NOW, trust: known });
      expect({ valid, check: checks.find(({ name }) => name === 'signature_operator') }).toEqual({
        valid: false,
        check: {
          name: 'signature_operator',
          ok: false,
          detail: `The key of did:svc:operator that signed this is for ${purpose}, not for receipts.`,
        },
      });
      const without = trustOf([
        recordOf('did:svc:alice', keyOf(service)),
        recordOf('did:svc:operator', keyOf(operator, { purpose })),
      ]);
      expect(await counterChecks(receipt, without)).toMatchObject({ valid: false, operator: false });
    },
  );

  test('a did:key inside another DID certifies nothing', async () => {
    const entity = `did:svc:${operator.keyId}`;
    const named = parsed(
      await mintEnvelope({ ...facts, operator: { ...facts.operator, entity } }, issuance, service),
    );
    const receipt = parsed(await countersign(named, 'operator', operator));
    const { checks } = await verify(receipt, { now: NOW, trust });
    expect(checks).toContainEqual({
      name: 'signature_operator',
      ok: null,
      detail: `The keys of ${entity} are not known here.`,
    });
  });

  test('are not made for a party that the receipt does not name', async () => {
    const receipt = await mint({ origin: null });
    await expect(countersign(receipt, 'requester', requester)).rejects.toMatchObject({
      code: 'countersign_mismatch',
    });
    const { svc } = receipt.signatures as Record<string, string>;
    const forced = { ...receipt, signatures: { svc: svc ?? '', operator: null, requester: svc ?? '' } };
    expect(await counterChecks(forced)).toMatchObject({ valid: false, requester: false });
  });

  test('of one role do not serve for the other', async () => {
    const { signatures, ...body } = await signedByBoth(await mint());
    const { svc, requester: first, operator: second } = signatures as Record<string, string>;
    const swapped = {
      ...body,
      signatures: { svc: svc ?? '', requester: second ?? '', operator: first ?? '' },
    };
    expect(await counterChecks(swapped)).toEqual({ valid: false, requester: false, operator: false });
  });

  test('are only for envelopes', async () => {
    for (const kind of KINDS) {
      if (kind === 'envelope') continue;
      const receipt = await sampleReceipt(kind, 'did:svc:alice', service);
      await expect(countersign(receipt, 'requester', requester)).rejects.toMatchObject({
        code: 'not_a_receipt',
      });
    }
    await expect(countersign({ v: 'svc-receipt-v1' }, 'requester', requester)).rejects.toMatchObject({
      code: 'not_a_receipt',
      field: 'receipt_profile',
    });
  });
});

describe('size of an envelope', () => {
  const bytesOf = (receipt: JsonObject): number => canonicalBytes(receipt).length;

  test.each(['a', 'é', '☃', '𝄞'])(
    'the largest of %s leaves room for both counter-signatures, to the byte',
    async (character) => {
      const width = utf8(character).length;
      const room = 3072 - bytesOf(await signedByBoth(await mint({ purpose: '' })));
      const purpose = character.repeat(Math.floor(room / width)) + '.'.repeat(room % width);
      const receipt = await mint({ purpose });
      const both = await signedByBoth(receipt);
      expect(bytesOf(both)).toBe(3072);
      expect(await counterChecks(both)).toEqual({ valid: true, requester: true, operator: true });
      await expect(mint({ purpose: `${purpose}.` })).rejects.toMatchObject({
        code: 'receipt_too_large',
        message: expect.stringContaining('3072 bytes') as unknown,
      });
    },
  );
});

describe('the anchored hash', () => {
  test('is of the receipt with the service’s signature alone', async () => {
    const receipt = await mint();
    expect(anchoredHash(receipt)).toBe(sha256Hex(canonicalBytes(receipt)));
  });

  test('stays when counter-signatures and unsigned members come', async () => {
    const receipt = await mint();
    const both = {
      ...(await signedByBoth(receipt)),
      anchor_ref: 'urn:anchor:x',
      tier: 'pro',
      anchor: { path: [] },
    };
    expect(anchoredHash(both)).toBe(anchoredHash(receipt));
    expect(await counterChecks(both)).toEqual({ valid: true, requester: true, operator: true });
  });

  test.each(KINDS)('changes with the signature and with anything signed: %s', async (kind) => {
    const [one, two, other] = await Promise.all([
      sampleReceipt(kind, 'did:svc:alice', service),
      sampleReceipt(kind, 'did:svc:alice', foreign),
      sampleReceipt(kind, 'did:svc:bob', foreign),
    ]);
    const namesIssuer = kind !== 'nano' && kind !== 'metering';
    expect(new Set([one, two, other].map(anchoredHash)).size).toBe(namesIssuer ? 3 : 2);
  });

  test.each(KINDS.filter((kind) => kind !== 'metering'))(
    'stays when unsigned members come: %s',
    async (kind) => {
      const receipt = await sampleReceipt(kind, 'did:svc:alice', service);
      expect(anchoredHash({ ...receipt, tier: 'pro', anchor: null, anchor_ref: '' })).toBe(
        anchoredHash(receipt),
      );
    },
  );

  test('of what is no receipt there is none', () => {
    for (const document of [null, [], 'x', {}, { v: 'svc-receipt-v1' }]) {
      expect(() => anchoredHash(document)).toThrow(
        expect.objectContaining({ code: 'not_a_receipt' }) as Error,
      );
    }
  });
});
