import { ed25519 } from '@noble/curves/ed25519.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { verdictCases } from '../../test/ed25519-cases.ts';
import { describeEngine } from '../../test/ed25519-suite.ts';
import { fromHex } from '../encoding/hex.ts';
import { defaultEngine, nobleEngine, webCryptoEngine } from './engines.ts';

describeEngine('nobleEngine', nobleEngine);
describeEngine('webCryptoEngine', webCryptoEngine);
describeEngine('defaultEngine', defaultEngine);

describe('the verdict table bites', () => {
  test.each(verdictCases.filter(({ equationHolds }) => equationHolds))(
    '$name satisfies the bare equation',
    ({ publicKey, message, signature }) => {
      expect(nobleEngine.verify(fromHex(publicKey), fromHex(message), fromHex(signature))).toBe(true);
    },
  );

  test.each(verdictCases.filter(({ onlyCofactored }) => onlyCofactored))(
    '$name passes a cofactored verifier',
    ({ publicKey, message, signature }) => {
      const options = { zip215: false };
      expect(ed25519.verify(fromHex(signature), fromHex(message), fromHex(publicKey), options)).toBe(true);
    },
  );
});

describe('defaultEngine', () => {
  const honest = verdictCases.find(({ name }) => name === 'honest signature');
  const onlyCofactored = verdictCases.find((vector) => vector.onlyCofactored);

  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  async function freshVerdict(vector: typeof honest): Promise<boolean> {
    vi.resetModules();
    const { defaultEngine: fresh } = await import('./engines.ts');
    if (vector === undefined) throw new Error('no such case');
    return fresh.verify(fromHex(vector.publicKey), fromHex(vector.message), fromHex(vector.signature));
  }

  /** Stubs the runtime: with these functions for OpenSSL's, or as a browser, which has none. */
  function stubRuntime(openSsl?: object): void {
    vi.stubGlobal('process', {
      ...process,
      ...(openSsl === undefined ? { getBuiltinModule: undefined } : { getBuiltinModule: () => openSsl }),
    });
  }

  test('verifies by OpenSSL in Node', async () => {
    const verify = vi.fn<() => boolean>(() => true);
    verify.mockReturnValueOnce(true).mockReturnValueOnce(false);
    stubRuntime({ createPublicKey: () => ({}), verify });
    vi.stubGlobal('crypto', undefined);
    expect(await freshVerdict(onlyCofactored)).toBe(true);
    expect(verify).toHaveBeenCalledTimes(3);
  });

  test('passes over an OpenSSL that multiplies by the cofactor', async () => {
    stubRuntime({ createPublicKey: () => ({}), verify: () => true });
    expect(await freshVerdict(onlyCofactored)).toBe(false);
    expect(await freshVerdict(honest)).toBe(true);
  });

  test('works where OpenSSL has no Ed25519', async () => {
    const createPublicKey = (): never => {
      throw new Error('unsupported');
    };
    stubRuntime({ createPublicKey, verify: () => true });
    const verify = vi.spyOn(crypto.subtle, 'verify');
    expect(await freshVerdict(onlyCofactored)).toBe(false);
    expect(await freshVerdict(honest)).toBe(true);
    expect(verify).toHaveBeenCalled();
  });

  test('works where there is no WebCrypto', async () => {
    stubRuntime();
    vi.stubGlobal('crypto', undefined);
    expect(await freshVerdict(honest)).toBe(true);
    expect(await freshVerdict(onlyCofactored)).toBe(false);
  });

  test('works where WebCrypto has no Ed25519', async () => {
    stubRuntime();
    const importKey = () => Promise.reject(new DOMException('no Ed25519', 'NotSupportedError'));
    vi.stubGlobal('crypto', { subtle: { importKey } });
    expect(await freshVerdict(honest)).toBe(true);
  });

  test('passes over a WebCrypto that multiplies by the cofactor', async () => {
    stubRuntime();
    vi.stubGlobal('crypto', { subtle: { importKey: () => ({}), verify: () => true } });
    expect(await freshVerdict(onlyCofactored)).toBe(false);
  });

  test('passes over a WebCrypto that refuses honest signatures', async () => {
    stubRuntime();
    vi.stubGlobal('crypto', { subtle: { importKey: () => ({}), verify: () => false } });
    expect(await freshVerdict(honest)).toBe(true);
  });
});

describe('webCryptoEngine', () => {
  afterEach(() => void vi.unstubAllGlobals());

  test('answers false where importing a key that is not on the curve fails', async () => {
    const importKey = () => Promise.reject(new DOMException('not a point', 'DataError'));
    vi.stubGlobal('crypto', { subtle: { importKey } });
    const verdict = webCryptoEngine.verify(new Uint8Array(32), new Uint8Array(), new Uint8Array(64));
    expect(await verdict).toBe(false);
  });

  test('does not mistake a missing algorithm for a bad signature', async () => {
    const importKey = () => Promise.reject(new DOMException('no Ed25519', 'NotSupportedError'));
    vi.stubGlobal('crypto', { subtle: { importKey } });
    const verdict = webCryptoEngine.verify(new Uint8Array(32), new Uint8Array(), new Uint8Array(64));
    await expect(verdict).rejects.toThrow('no Ed25519');
  });
});
