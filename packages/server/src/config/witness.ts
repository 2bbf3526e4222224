import { noteKeyHash } from '@tallystick/core';
import type { WitnessConfig } from '@tallystick/log';
import { parseUrl, publicUrlProblem } from './reader.ts';

/** Ed25519 keys, and cosignature/v1 keys, which are the same keys under another type (C2SP signed-note). */
const KEY_TYPES: ReadonlySet<number> = new Set([0x01, 0x04]);

/** `<verifier key> <submission prefix>`, as witnesses publish them; null for any other text. */
export function parseWitness(text: string): WitnessConfig | null {
  const [verifierKey = '', prefix = '', ...rest] = text.split(/\s+/);
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+([\w+/=]+)$/.exec(verifierKey) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const [type = 0] = bytes;
  if (bytes.length !== 33 || bytes.toString('base64') !== encoded || !KEY_TYPES.has(type)) return null;
  const publicKey = new Uint8Array(bytes.subarray(1));
  if (noteKeyHash(name, type, publicKey) !== Number.parseInt(id, 16)) return null;
  if (rest.length > 0 || publicUrlProblem(parseUrl(prefix)) !== null) return null;
  return { name, publicKey, url: prefix.replace(/\/+$/, '') };
}
