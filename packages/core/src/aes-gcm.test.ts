import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { haveSharedVectors, readSharedText } from '../test/shared-vectors.ts';
import { aesGcmDecrypt, aesGcmEncrypt } from './aes-gcm.ts';
import { fromHex, toHex } from './encoding/hex.ts';
import { TallyError } from './errors.ts';

interface Vector {
  tcId: number;
  comment: string;
  key: string;
  iv: string;
  aad: string;
  msg: string;
  ct: string;
  tag: string;
  result: 'valid' | 'invalid';
}
interface Group {
  ivSize: number;
  keySize: number;
  tests: Vector[];
}

const groups = haveSharedVectors
  ? (JSON.parse(readSharedText('wycheproof/aes_gcm_test.json')) as { testGroups: Group[] }).testGroups
  : [];
const withoutWebCrypto = () => vi.stubGlobal('crypto', undefined);
const refusedSize = expect.objectContaining({ code: 'invalid_field' });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function outcome({ key, iv, aad, msg, ct, tag }: Vector): Promise<string> {
  const input = [fromHex(key), fromHex(iv), fromHex(aad)] as const;
  try {
    const opened = await aesGcmDecrypt(...input, fromHex(ct + tag));
    if (opened === undefined) return 'not authentic';
    const sealed = await aesGcmEncrypt(...input, fromHex(msg));
    return toHex(opened) === msg && toHex(sealed) === ct + tag ? 'these bytes' : 'other bytes';
  } catch (error) {
    return error instanceof TallyError ? error.code : String(error);
  }
}

function wanted({ key, iv, result }: Vector): string {
  if (key.length !== 64 || iv.length !== 24) return 'invalid_field';
  return result === 'valid' ? 'these bytes' : 'not authentic';
}

describe.skipIf(!haveSharedVectors)('Wycheproof AES-GCM', () => {
  test('there are 316 vectors, 66 of them of the one size that is taken', () => {
    const wants = groups.flatMap(({ tests }) => tests.map(wanted));
    expect(wants).toHaveLength(316);
    expect(wants.filter((want) => want !== 'invalid_field')).toHaveLength(66);
  });

  test.each(groups)('$keySize-bit key, $ivSize-bit nonce', async ({ tests }) => {
    expect(await Promise.all(tests.map(outcome))).toEqual(tests.map(wanted));
  });

  test.each(groups)('$keySize-bit key, $ivSize-bit nonce, without WebCrypto', async ({ tests }) => {
    withoutWebCrypto();
    expect(await Promise.all(tests.map(outcome))).toEqual(tests.map(wanted));
  });
});

test('WebCrypto does the work where there is one', async () => {
  const encrypt = vi.spyOn(crypto.subtle, 'encrypt');
  const decrypt = vi.spyOn(crypto.subtle, 'decrypt');
  const input = [new Uint8Array(32), new Uint8Array(12), new Uint8Array(0)] as const;
  const sealed = await aesGcmEncrypt(...input, new Uint8Array(5));
  expect(await aesGcmDecrypt(...input, sealed)).toEqual(new Uint8Array(5));
  expect([encrypt.mock.calls.length, decrypt.mock.calls.length]).toEqual([1, 1]);
});

const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const inputs = [sized(32), sized(12), fc.uint8Array(), fc.uint8Array({ maxLength: 200 })] as const;

test('WebCrypto and noble write the same bytes and read each other', async () => {
  await fc.assert(
    fc.asyncProperty(...inputs, async (key, nonce, aad, data) => {
      const sealed = await aesGcmEncrypt(key, nonce, aad, data);
      withoutWebCrypto();
      expect(await aesGcmEncrypt(key, nonce, aad, data)).toEqual(sealed);
      expect(await aesGcmDecrypt(key, nonce, aad, sealed)).toEqual(data);
      vi.unstubAllGlobals();
      expect(await aesGcmDecrypt(key, nonce, aad, sealed)).toEqual(data);
    }),
  );
});

test('a caller that reuses its buffers at once does not change what is encrypted', async () => {
  const [key, nonce, aad, data] = [32, 12, 4, 40].map((length) => new Uint8Array(length).fill(length)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const expected = await aesGcmEncrypt(key, nonce, aad, data);
  const pending = aesGcmEncrypt(key, nonce, aad, data);
  for (const buffer of [key, nonce, aad, data]) buffer.fill(0);
  expect(await pending).toEqual(expected);
});

describe.each([['WebCrypto'], ['noble']])('%s', (path) => {
  const bytes = (length: number) => new Uint8Array(length);

  test.each([[0], [16], [24], [31], [33], [64]])('refuses a key of %i bytes', async (length) => {
    if (path === 'noble') withoutWebCrypto();
    await expect(aesGcmEncrypt(bytes(length), bytes(12), bytes(0), bytes(1))).rejects.toThrow(refusedSize);
    await expect(aesGcmDecrypt(bytes(length), bytes(12), bytes(0), bytes(17))).rejects.toThrow(refusedSize);
  });

  test.each([[0], [7], [11], [13], [16]])('refuses a nonce of %i bytes', async (length) => {
    if (path === 'noble') withoutWebCrypto();
    await expect(aesGcmEncrypt(bytes(32), bytes(length), bytes(0), bytes(1))).rejects.toThrow(refusedSize);
    await expect(aesGcmDecrypt(bytes(32), bytes(length), bytes(0), bytes(17))).rejects.toThrow(refusedSize);
  });

  test.each([[0], [1], [15]])('opens nothing that is %i bytes, shorter than a tag', async (length) => {
    if (path === 'noble') withoutWebCrypto();
    expect(await aesGcmDecrypt(bytes(32), bytes(12), bytes(0), bytes(length))).toBeUndefined();
  });
});
