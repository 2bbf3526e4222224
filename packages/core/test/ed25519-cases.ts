import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, fromHex, toHex, utf8 } from '../src/index.ts';

/** A signature to judge, all bytes as hex. */
export interface VerdictCase {
  readonly name: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
  readonly valid: boolean;
  /** True if the cofactorless equation itself holds, so that only an encoding check can refuse the case. */
  readonly equationHolds?: boolean;
  /** True if the equation multiplied by the cofactor holds and the cofactorless one does not. */
  readonly onlyCofactored?: boolean;
}

const { Point } = ed25519;
type EdwardsPoint = typeof Point.BASE;

/** The canonical encodings of the eight points of small order, with the order of each. */
export const smallOrderPoints: readonly { readonly order: number; readonly hex: string }[] = [
  { order: 1, hex: '0100000000000000000000000000000000000000000000000000000000000000' },
  { order: 2, hex: 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f' },
  { order: 4, hex: '0000000000000000000000000000000000000000000000000000000000000000' },
  { order: 4, hex: '0000000000000000000000000000000000000000000000000000000000000080' },
  { order: 8, hex: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05' },
  { order: 8, hex: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85' },
  { order: 8, hex: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a' },
  { order: 8, hex: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa' },
];

/** Encodings that RFC 8032, section 5.1.3 refuses: y >= p, or x = 0 with the sign bit set. */
export const nonCanonicalPoints: readonly { readonly name: string; readonly hex: string }[] = [
  { name: 'y = p', hex: 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f' },
  { name: 'y = p, sign bit', hex: 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff' },
  { name: 'y = p + 1', hex: 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f' },
  { name: 'y = p + 1, sign bit', hex: 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff' },
  { name: 'y = p + 3, full order', hex: 'f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f' },
  { name: 'y = 2^255 - 1', hex: 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f' },
  { name: 'y = 1, x = 0, sign bit', hex: '0100000000000000000000000000000000000000000000000000000000000080' },
  {
    name: 'y = -1, x = 0, sign bit',
    hex: 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  },
];

const secretKey = new Uint8Array(32).fill(7);
const scalar = ed25519.utils.getExtendedPublicKey(secretKey).scalar;
const plainKey = Point.BASE.multiply(scalar);
const torsion = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
const groupOrder = Point.Fn.ORDER;

/** Honest signatures, and every kind that passes in some library and fails in another, on which the profile decides. */
export const verdictCases: readonly VerdictCase[] = [
  ...honestCases(),
  ...smallOrderPoints.map(smallOrderKey),
  ...smallOrderPoints.map(smallOrderR),
  ...nonCanonicalPoints.flatMap(nonCanonical),
  ...scalarCases(),
  ...mixedOrderCases(),
  ...lengthCases(),
];

function honestCases(): VerdictCase[] {
  const message = utf8('honest');
  const signature = ed25519.sign(message, secretKey);
  const other = ed25519.getPublicKey(new Uint8Array(32).fill(8));
  const notOnCurve = fromHex('0200000000000000000000000000000000000000000000000000000000000000');
  return [
    testCase('honest signature', plainKey.toBytes(), message, signature, true),
    testCase('honest signature, another message', plainKey.toBytes(), utf8('other'), signature, false),
    testCase('honest signature, another key', other, message, signature, false),
    testCase('key that is not on the curve', notOnCurve, message, signature, false),
  ];
}

/** A = T, S = r and a nonce for which k is a multiple of 8, so that [k]A vanishes and the equation holds. */
function smallOrderKey(point: { order: number; hex: string }, index: number): VerdictCase {
  const key = Point.fromHex(point.hex);
  const found = forge(key, Point.ZERO, 0n, (k) => k % 8n === 0n);
  return { ...found, name: `A of order ${point.order} (#${index})`, valid: false, equationHolds: true };
}

/** R = T under a key with a torsion component, with [k]T' = -T, so that the equation holds. */
function smallOrderR(point: { order: number; hex: string }, index: number): VerdictCase {
  const r = Point.fromHex(point.hex);
  for (let attempt = 0; ; attempt++) {
    const message = utf8(`small-order R ${attempt}`);
    const key = plainKey.add(torsion);
    const k = challenge(r.toBytes(), key.toBytes(), message);
    if (
      !torsion
        .multiplyUnsafe(k % 8n)
        .add(r)
        .is0()
    )
      continue;
    const signature = concatBytes(r.toBytes(), scalarBytes(Point.Fn.create(k * scalar)));
    const name = `R of order ${point.order} (#${index})`;
    return { ...testCase(name, key.toBytes(), message, signature, false), equationHolds: true };
  }
}

function nonCanonical(point: { name: string; hex: string }): VerdictCase[] {
  const message = utf8('non-canonical');
  const signature = ed25519.sign(message, secretKey);
  const encoded = fromHex(point.hex);
  const changedR = concatBytes(encoded, signature.subarray(32));
  return [
    testCase(`non-canonical A: ${point.name}`, encoded, message, signature, false),
    testCase(`non-canonical R: ${point.name}`, plainKey.toBytes(), message, changedR, false),
  ];
}

function scalarCases(): VerdictCase[] {
  const message = utf8('scalars');
  const signature = ed25519.sign(message, secretKey);
  const s = fromLittleEndian(signature.subarray(32));
  const withS = (value: bigint) => concatBytes(signature.subarray(0, 32), scalarBytes(value));
  const cases: [string, bigint, boolean][] = [
    ['S', s, true],
    ['S + L', s + groupOrder, false],
    ['S + 8L', s + 8n * groupOrder, false],
    ['S = L', groupOrder, false],
    ['S = L - 1', groupOrder - 1n, false],
    ['S = 0', 0n, false],
    ['S with its highest bit set', s + (1n << 255n), false],
  ];
  return cases.map(([name, value, valid]) =>
    testCase(name, plainKey.toBytes(), message, withS(value), valid),
  );
}

function mixedOrderCases(): VerdictCase[] {
  const mixedKey = plainKey.add(torsion);
  return [
    {
      ...forge(mixedKey, Point.ZERO, scalar, (k) => k % 8n === 0n),
      name: 'A with torsion that k removes',
      valid: true,
    },
    ...[1n, 2n, 4n, 7n].map((rest) => ({
      ...forge(mixedKey, Point.ZERO, scalar, (k) => k % 8n === rest),
      name: `A with torsion, k = ${rest} mod 8`,
      valid: false,
      onlyCofactored: true,
    })),
    {
      ...forge(plainKey, torsion, scalar, () => true),
      name: 'R with torsion',
      valid: false,
      onlyCofactored: true,
    },
    {
      ...forge(mixedKey, torsion, scalar, (k) => k % 8n === 7n),
      name: 'A and R with torsion that cancel out',
      valid: true,
    },
  ];
}

function lengthCases(): VerdictCase[] {
  const message = utf8('lengths');
  const key = plainKey.toBytes();
  const signature = ed25519.sign(message, secretKey);
  const zero = Uint8Array.of(0);
  return [
    testCase('key of 31 bytes', key.subarray(1), message, signature, false),
    testCase('key of 33 bytes', concatBytes(key, zero), message, signature, false),
    testCase('empty key', new Uint8Array(), message, signature, false),
    testCase('signature of 63 bytes', key, message, signature.subarray(0, 63), false),
    testCase('signature of 65 bytes', key, message, concatBytes(signature, zero), false),
    testCase('empty signature', key, message, new Uint8Array(), false),
  ];
}

/** A signature with S = r + k * scalar and R = [r]B + offset, for the first nonce r whose k is accepted. */
function forge(
  key: EdwardsPoint,
  offset: EdwardsPoint,
  scalar: bigint,
  accepts: (k: bigint) => boolean,
): Omit<VerdictCase, 'name' | 'valid'> {
  const message = utf8('forged');
  for (let nonce = 2n; ; nonce++) {
    const r = Point.BASE.multiply(nonce).add(offset).toBytes();
    const k = challenge(r, key.toBytes(), message);
    if (!accepts(k)) continue;
    const signature = concatBytes(r, scalarBytes(Point.Fn.create(nonce + k * scalar)));
    return { publicKey: toHex(key.toBytes()), message: toHex(message), signature: toHex(signature) };
  }
}

function challenge(r: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  return Point.Fn.create(fromLittleEndian(sha512(concatBytes(r, key, message))));
}

function scalarBytes(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

function testCase(
  name: string,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  valid: boolean,
): VerdictCase {
  return {
    name,
    publicKey: toHex(publicKey),
    message: toHex(message),
    signature: toHex(signature),
    valid,
  };
}
