import { createSigner, type Signer, sha256, utf8 } from '../../packages/core/src/index.ts';

/** Names of the keys' owners. The seeds are public: they are for vectors only. */
export const keyNames = [
  'service',
  'retired',
  'revoked',
  'compromised',
  'pending',
  'undated',
  'undated-revoked',
  'named',
  'log',
  'root',
  'other-root',
  'acme',
  'acme-second',
  'operator',
  'agent',
  'stranger',
  'benchmark',
  'status',
] as const;
export type KeyName = (typeof keyNames)[number];

/** The seed of a key: SHA-256 of `tallystick vector key: <name>`, 32 bytes. */
export function seedOf(name: KeyName): Uint8Array {
  return sha256(utf8(`tallystick vector key: ${name}`));
}

export type Signers = Readonly<Record<KeyName, Signer>>;

const signed = await Promise.all(keyNames.map(async (name) => [name, await createSigner(seedOf(name))]));

/** A signer for every key of the vectors. */
export const signers = Object.fromEntries(signed) as Signers;
