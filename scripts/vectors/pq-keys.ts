import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import {
  PQ_ALGORITHM,
  type PqKey,
  type PqSigner,
  pqKeyId,
  sha256,
  toBase64url,
  utf8,
} from '../../packages/core/src/index.ts';

/** The names of the ML-DSA-65 keys of the service in the vectors. */
const NAMES = ['service', 'retired', 'compromised', 'stranger'] as const;
type PqKeyName = (typeof NAMES)[number];

const pairs = Object.fromEntries(
  NAMES.map((name) => [name, ml_dsa65.keygen(sha256(utf8(`tallystick vector ML-DSA-65 key: ${name}`)))]),
) as Record<PqKeyName, ReturnType<typeof ml_dsa65.keygen>>;

/** Signs with the deterministic variant (FIPS 204, section 3.4), so that the vectors are the same each time. */
export function pqSigner(name: PqKeyName): PqSigner {
  const { publicKey, secretKey } = pairs[name];
  return {
    keyId: pqKeyId(publicKey),
    sign: async (message) => ml_dsa65.sign(message, secretKey, { extraEntropy: false }),
  };
}

/** The key as a trust bundle lists it. */
export function pqKey(name: PqKeyName, changes: Partial<PqKey> = {}): PqKey {
  const { publicKey } = pairs[name];
  return {
    alg: PQ_ALGORITHM,
    key_id: pqKeyId(publicKey),
    public_key: toBase64url(publicKey),
    state: 'active',
    valid_from: '2025-01-01T00:00:00Z',
    valid_until: null,
    revoked: null,
    ...changes,
  };
}
