import { createJWS } from '@x402/extensions/offer-receipt';
import { expect, test } from 'vitest';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import { bundleOf, readVectors, stores } from '../../core/test/receipt-vectors.ts';
import { checkTrust, createSigner, generateSecretKey, verifyForeign } from '../src/index.ts';

function vector(name: string): ForeignCase {
  const found = readVectors<ForeignCase>('foreign-acta.json').find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no vector ${name}.`);
  return found;
}

test('a bundle trusts the keys of its verified issuers, whatever form the receipt has', async () => {
  const { file, now } = vector('key of a verified issuer');
  const trust = await checkTrust(JSON.parse(await bundleOf(stores.known)) as object, {
    now: Date.parse(now),
  });
  const verdict = await verifyForeign(JSON.parse(file) as object, { trust, now: Date.parse(now) });
  expect(verdict).toMatchObject({
    family: 'acta',
    valid: true,
    issuer: { trusted: true, status: 'verified' },
  });
  expect(await verifyForeign(file)).toMatchObject({ valid: true, issuer: { trusted: false } });
});

test('a receipt that x402’s own package makes now is valid under its key, and one of ours is none of these', async () => {
  const signer = await createSigner(generateSecretKey());
  const { keyId } = signer;
  const payload = {
    version: 1,
    network: 'eip155:8453',
    resourceUrl: 'https://api.example.com/',
    payer: '0x01',
    issuedAt: Math.floor(Date.now() / 1000),
  };
  const signature = await createJWS(payload, {
    kid: `${keyId}#${keyId.slice('did:key:'.length)}`,
    format: 'jws',
    algorithm: 'EdDSA',
    sign: async (bytes) => Buffer.from(await signer.sign(bytes)).toString('base64url'),
  });
  const verdict = await verifyForeign({ format: 'jws', signature }, { keys: [keyId] });
  expect(verdict).toMatchObject({ family: 'x402', valid: true, issuer: { trusted: true }, signers: [keyId] });
  const [ours] = readVectors('envelope.json');
  expect(await verifyForeign(ours?.document as object)).toBeNull();
});
