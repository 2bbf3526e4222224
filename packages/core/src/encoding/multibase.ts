import { TallyError } from '../errors.ts';
import { fromBase58, toBase58 } from './base58.ts';

/** Multibase text in base58btc: `z` and the base58 digits (Controlled Identifiers 1.0, section 2.4). */
export function toMultibase(bytes: Uint8Array): string {
  return `z${toBase58(bytes)}`;
}

/**
 * The bytes of multibase text; base58btc (`z`) is the only base understood.
 * @throws invalid_multibase for another base, other characters or more than 129 of them
 */
export function fromMultibase(text: string): Uint8Array {
  if (!text.startsWith('z')) {
    throw new TallyError('invalid_multibase', 'Expected base58btc multibase, which starts with "z".');
  }
  return fromBase58(text.slice(1));
}
