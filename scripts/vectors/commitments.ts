import { hkdfSha256, hmacSha256, sha256, toHex, utf8 } from '../../packages/core/src/index.ts';

export type CommitmentLabel = 'machine' | 'customer' | 'rate' | 'settlement';

/** The salt of the vectors' bills; a real salt is random and secret. */
export const SALT = sha256(utf8('tallystick vector salt'));

const subkey = (label: CommitmentLabel): Uint8Array =>
  hkdfSha256(SALT, new Uint8Array(), utf8(`svc-metering-v1/${label}`), 32);

/** The commitment to a value (spec/metering.md, Commitments): 64 hex. */
export function commitment(label: CommitmentLabel, value: string): string {
  return toHex(hmacSha256(subkey(label), utf8(value)));
}

const examples: readonly (readonly [CommitmentLabel, string])[] = [
  ['machine', 'SN-000117'],
  ['customer', 'customer-42'],
  ['rate', 'rate-card-7'],
  ['settlement', 'INV-2026-0042'],
  ['settlement', ''],
];

export interface CommitmentCase {
  readonly name: string;
  readonly comment: string;
  readonly salt: string;
  readonly label: CommitmentLabel;
  readonly value: string;
  readonly expected: { readonly key: string; readonly commitment: string; readonly salt_commitment: string };
}

export function commitmentCases(): CommitmentCase[] {
  return examples.map(([label, value]) => ({
    name: value === '' ? `${label}, class none` : label,
    comment:
      'key = HKDF-SHA256(salt, no HKDF salt, info), commitment = HMAC-SHA256(key, value); bytes as hex.',
    salt: toHex(SALT),
    label,
    value,
    expected: {
      key: toHex(subkey(label)),
      commitment: commitment(label, value),
      salt_commitment: toHex(sha256(SALT)),
    },
  }));
}
