import { isDid } from '../did/did.ts';
import { fromBase58 } from '../encoding/base58.ts';
import { TallyError } from '../errors.ts';

const EVM = /^0x[0-9a-fA-F]{40}$/;
/** CAIP-10: namespace, reference and address of an account on any chain. */
const CHAIN_ACCOUNT = /^([-a-z0-9]{3,8}):[-_a-zA-Z0-9]{1,32}:([-.%a-zA-Z0-9]{1,128})$/;
/** The base58 of 32 bytes has between 32 and 44 characters. */
const BASE58_KEY = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * Returns whether the text is what an issuer's receipt may name as recipient: a DID; an EVM address (`0x` and 40 hex
 * digits, with the letter case of EIP-55 or any other, because the checksum is optional there); a Solana address
 * (base58 of 32 bytes); or an account of any other chain as CAIP-10 writes it (`bip122:<chain>:<address>`).
 */
export function isRecipient(text: string): boolean {
  if (text.startsWith('did:')) return isDid(text);
  const [, namespace, address] = CHAIN_ACCOUNT.exec(text) ?? [];
  if (address !== undefined) return namespace !== 'eip155' || EVM.test(address);
  return EVM.test(text) || isSolanaAddress(text);
}

function isSolanaAddress(text: string): boolean {
  if (!BASE58_KEY.test(text)) return false;
  try {
    return fromBase58(text).length === 32;
  } catch (error) {
    if (error instanceof TallyError) return false;
    throw error;
  }
}
