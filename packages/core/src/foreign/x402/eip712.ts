import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, utf8 } from '../../encoding/bytes.ts';
import { fromHex } from '../../encoding/hex.ts';
import type { JsonObject, JsonValue } from '../../json/types.ts';

/** A struct type of EIP-712 whose members are all `string` or `uint256`, in the order of its declaration. */
export interface StructType {
  readonly name: string;
  readonly members: Readonly<Record<string, 'string' | 'uint256'>>;
}

const DOMAIN: StructType = {
  name: 'EIP712Domain',
  members: { name: 'string', version: 'string', chainId: 'uint256' },
};

/**
 * The 32-byte hash that is signed for a struct (EIP-712, "Specification of the eth_signTypedData JSON RPC").
 * @param value has every member of the type: text, or a safe integer from 0
 */
export function typedDataHash(domainName: string, type: StructType, value: JsonObject): Uint8Array {
  const domain = hashStruct(DOMAIN, { name: domainName, version: '1', chainId: 1 });
  return keccak_256(concatBytes(Uint8Array.of(0x19, 0x01), domain, hashStruct(type, value)));
}

function hashStruct({ name, members }: StructType, value: JsonObject): Uint8Array {
  const declared = Object.entries(members);
  const encodedType = `${name}(${declared.map(([member, type]) => `${type} ${member}`).join(',')})`;
  const words = declared.map(([member]) => word(value[member]));
  return keccak_256(concatBytes(keccak_256(utf8(encodedType)), ...words));
}

/** The 32 bytes of a member: the hash of a text, or a number big-endian. */
function word(value: JsonValue | undefined): Uint8Array {
  if (typeof value === 'string') return keccak_256(utf8(value));
  return fromHex(BigInt(Number(value)).toString(16).padStart(64, '0'));
}
