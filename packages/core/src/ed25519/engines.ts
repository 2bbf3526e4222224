import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { type NodeCrypto, nodeEngineOf } from './node-engine.ts';
import type { Ed25519Engine } from './profile.ts';

const { Point } = ed25519;

/**
 * Engine in pure JavaScript. The library's own `verify` multiplies by the cofactor, so the points are compared here: the
 * encoding of [S]B - [k]A with R itself, which also decides rightly when [k]A has a torsion component.
 */
export const nobleEngine: Ed25519Engine<boolean> = {
  verify(publicKey, message, signature) {
    const a = decompress(publicKey);
    if (a === undefined) return false;
    const r = signature.subarray(0, 32);
    const s = littleEndian(signature.subarray(32));
    const k = Point.Fn.create(littleEndian(sha512(concatBytes(r, publicKey, message))));
    const expected = Point.BASE.multiplyUnsafe(s).subtract(a.multiplyUnsafe(k));
    return equalBytes(expected.toBytes(), r);
  },
};

/** Engine over the runtime's WebCrypto. It rejects where the runtime has no Ed25519 or is no secure context. */
export const webCryptoEngine: Ed25519Engine<Promise<boolean>> = {
  async verify(publicKey, message, signature) {
    const { subtle } = globalThis.crypto;
    try {
      const key = await subtle.importKey('raw', Uint8Array.from(publicKey), 'Ed25519', false, ['verify']);
      return await subtle.verify('Ed25519', key, Uint8Array.from(signature), Uint8Array.from(message));
    } catch (error) {
      if (error instanceof DOMException && error.name === 'DataError') return false;
      throw error;
    }
  },
};

let chosenEngine: Promise<Ed25519Engine> | undefined;

/**
 * OpenSSL in Node and whatever has its modules, else WebCrypto, each only where it is cofactorless, which is tried once at first
 * use; else pure JavaScript.
 */
export const defaultEngine: Ed25519Engine<Promise<boolean>> = {
  async verify(publicKey, message, signature) {
    chosenEngine ??= chooseEngine();
    const engine = await chosenEngine;
    return engine.verify(publicKey, message, signature);
  },
};

async function chooseEngine(): Promise<Ed25519Engine> {
  const crypto = nodeCrypto() as NodeCrypto<object> | undefined;
  if (crypto !== undefined) {
    try {
      const native = nodeEngineOf(crypto);
      if (await isCofactorless(native)) return native;
    } catch {
      // A runtime may have the module without the curve.
    }
  }
  try {
    return (await isCofactorless(webCryptoEngine)) ? webCryptoEngine : nobleEngine;
  } catch {
    return nobleEngine;
  }
}

/** `node:crypto` without an import, which browsers and their bundlers could not resolve; undefined where there is none. */
export function nodeCrypto(): unknown {
  return (
    globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  ).process?.getBuiltinModule?.('node:crypto');
}

/**
 * Known answers for the message `tallystick`. The second key is the first with a point of order 8 added: its
 * signature satisfies only the equation multiplied by the cofactor, which some runtimes check.
 */
const probe = {
  key: fromHex('ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c', 32),
  signature: fromHex(
    '9a1907f8ffe907328e139a2a68db804b3d9f7831855349d0726571466a3cd285' +
      '392438d1f57c88e5c798fe6f2aaaec7c74478233a2fbe575a0d0d8a3f237fc0e',
    64,
  ),
  mixedKey: fromHex('fbb3211d177bccefd763d01a88f6473e43e5cf0a0740e44ab5c64460eefd4675', 32),
  mixedSignature: fromHex(
    'c9a3f86aae465f0e56513864510f3997561fa2c9e85ea21dc2292309f3cd6022' +
      'e257c20fbdd5ad1d71f9b04cbf102e75123cda1913bb6145ec7a0e618d22870d',
    64,
  ),
};

async function isCofactorless(engine: Ed25519Engine): Promise<boolean> {
  const message = utf8('tallystick');
  return (
    (await engine.verify(probe.key, message, probe.signature)) &&
    !(await engine.verify(probe.mixedKey, message, probe.mixedSignature))
  );
}

function decompress(publicKey: Uint8Array): InstanceType<typeof Point> | undefined {
  try {
    return Point.fromBytes(publicKey);
  } catch {
    return undefined;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) value = (value << 8n) | BigInt(bytes[index] ?? 0);
  return value;
}
