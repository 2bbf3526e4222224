import { verdictCases } from '../../packages/core/test/ed25519-cases.ts';

/** One signature to judge; all bytes are hex. */
export interface Ed25519Case {
  readonly name: string;
  readonly public_key: string;
  readonly message: string;
  readonly signature: string;
  readonly expected: { readonly valid: boolean };
}

export function ed25519Cases(): Ed25519Case[] {
  return verdictCases.map(({ name, publicKey, message, signature, valid }) => ({
    name,
    public_key: publicKey,
    message,
    signature,
    expected: { valid },
  }));
}
