import { noteKeyHash } from '@tallystick/core';
import type { WitnessConfig } from '@tallystick/log';
import { parseUrl, publicUrlProblem } from './reader.ts';

/**
 * Bytes of the public key by the type of the key (C2SP signed-note): Ed25519, cosignature/v1, which are the same keys under another
 * type, and ML-DSA-44.
 */
const KEY_BYTES: ReadonlyMap<number, number> = new Map([
  [0x01, 32],
  [0x04, 32],
  [0x06, 1312],
]);

/** `<verifier key> <submission prefix>`, as witnesses publish them; null for any other text. */
export function parseWitness(text: string): WitnessConfig | null {
  const [verifierKey = '', prefix = '', ...rest] = text.split(/\s+/);
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+([\w+/=]+)$/.exec(verifierKey) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const [type = 0] = bytes;
  if (bytes.length - 1 !== KEY_BYTES.get(type) || bytes.toString('base64') !== encoded) return null;
  const publicKey = new Uint8Array(bytes.subarray(1));
  if (noteKeyHash(name, type, publicKey) !== Number.parseInt(id, 16)) return null;
  // What a witness signs by ML-DSA-44 has no room for a longer name (C2SP tlog-cosignature).
  if (type === 0x06 && Buffer.byteLength(name) > 255) return null;
  if (rest.length > 0 || publicUrlProblem(parseUrl(prefix)) !== null) return null;
  return { name, publicKey, url: prefix.replace(/\/+$/, '') };
}
