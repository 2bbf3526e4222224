import { afterEach, describe, expect, test, vi } from 'vitest';
import { rfc8032Vectors } from '../../test/rfc8032.ts';
import { publicKeyOfDidKey } from '../did/key.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { createSigner, generateSecretKey, publicKeyOf, type Signer } from './signer.ts';

/** `createSigner` as if the module were loaded for the first time, which is when it looks for WebCrypto. */
async function freshSigner(secretKey: Uint8Array): Promise<Signer> {
  vi.resetModules();
  const { createSigner: fresh } = await import('./signer.ts');
  return fresh(secretKey);
}

const { subtle } = globalThis.crypto;
const getRandomValues = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
const noEd25519 = { importKey: () => Promise.reject(new DOMException('no Ed25519', 'NotSupportedError')) };
const randomised = {
  importKey: subtle.importKey.bind(subtle),
  sign: async () => getRandomValues(new Uint8Array(64)),
};

describe('createSigner', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  const platforms = [
    ['by WebCrypto', globalThis.crypto],
    ['on an insecure origin', { getRandomValues }],
    ['where WebCrypto has no Ed25519', { getRandomValues, subtle: noEd25519 }],
    ['where WebCrypto adds randomness', { getRandomValues, subtle: randomised }],
  ] as const;
  const cases = platforms.flatMap(([where, webCrypto]) =>
    rfc8032Vectors.map((vector) => ({ ...vector, where, webCrypto })),
  );

  test.each(cases)('signs RFC 8032 $name to the letter $where', async ({ webCrypto, ...vector }) => {
    vi.stubGlobal('crypto', webCrypto);
    const signer = await freshSigner(fromHex(vector.secretKey));
    expect(toHex(signer.publicKey)).toBe(vector.publicKey);
    expect(toHex(await signer.sign(fromHex(vector.message)))).toBe(vector.signature);
    expect(toHex(publicKeyOfDidKey(signer.keyId))).toBe(vector.publicKey);
  });

  test('asks WebCrypto where it has Ed25519', async () => {
    const sign = vi.spyOn(subtle, 'sign');
    const signer = await freshSigner(new Uint8Array(32));
    const before = sign.mock.calls.length;
    await signer.sign(new Uint8Array());
    expect(sign.mock.calls.length).toBe(before + 1);
  });

  test('keeps its own copy of the secret', async () => {
    const secretKey = fromHex(rfc8032Vectors[0]!.secretKey);
    const signer = await createSigner(secretKey);
    secretKey.fill(0);
    expect(toHex(await signer.sign(new Uint8Array()))).toBe(rfc8032Vectors[0]!.signature);
  });

  test.each([0, 31, 33, 64])('refuses a secret of %i bytes', async (length) => {
    const expected = expect.objectContaining({ code: 'invalid_secret_key' });
    await expect(createSigner(new Uint8Array(length))).rejects.toEqual(expected);
    expect(() => publicKeyOf(new Uint8Array(length))).toThrow(expected);
  });
});

const withoutModule = { getBuiltinModule: () => undefined };
const withoutCurve = {
  getBuiltinModule: () => ({
    createPrivateKey: () => {
      throw new Error('unsupported');
    },
  }),
};

describe.each([
  ['by OpenSSL', globalThis.process],
  ['where there is no OpenSSL', withoutModule],
  ['where OpenSSL lacks the curve', withoutCurve],
])('publicKeyOf %s', (_where, process) => {
  afterEach(() => void vi.unstubAllGlobals());

  test.each(rfc8032Vectors)('knows the public key of RFC 8032 $name', ({ secretKey, publicKey }) => {
    vi.stubGlobal('process', process);
    expect(toHex(publicKeyOf(fromHex(secretKey)))).toBe(publicKey);
  });
});

test('generateSecretKey gives 32 bytes, never the same', () => {
  expect(generateSecretKey()).toHaveLength(32);
  expect(generateSecretKey()).not.toEqual(generateSecretKey());
});
