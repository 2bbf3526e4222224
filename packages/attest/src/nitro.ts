import { encodeCbor } from '@tallystick/core/cose';
import { decode } from 'cborg';
import { certificateOf, certificatesOf } from './certificates.ts';
import { type Evidence, malformed } from './evidence.ts';

/** The root of AWS Nitro Enclaves, AWS_NitroEnclaves_Root-G1. */
export const AWS_ROOTS: readonly string[] = [
  '641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b',
];

/** ECDSA P-384 with SHA-384 (RFC 9053, section 2.1). */
const ES384 = -35;

/** Whether bytes begin as a COSE_Sign1 under ES384 does, with the tag or without it. */
export function looksLikeDocument(bytes: Buffer): boolean {
  return /^(d2)?8444a1013822/.test(bytes.toString('hex', 0, 8));
}

/**
 * Reads an attestation document of an AWS Nitro Enclave, as the Nitro Security Module gives it.
 * @throws attestation_invalid
 */
export function readDocument(bytes: Buffer): Evidence {
  const untagged = bytes[0] === 0xd2 ? bytes.subarray(1) : bytes;
  const message = decoded(untagged);
  const [protectedBytes, , payload, signature] = Array.isArray(message) ? (message as unknown[]) : [];
  if (!isBytes(protectedBytes) || !isBytes(payload) || !isBytes(signature))
    throw malformed('The document is not a COSE_Sign1.');
  const header = decoded(protectedBytes);
  if (!(header instanceof Map) || header.get(1) !== ES384)
    throw malformed('The document is not signed by ES384.');
  const claims = decoded(payload);
  const claim = (name: string): unknown => (claims instanceof Map ? claims.get(name) : undefined);
  if (claim('digest') !== 'SHA384') throw malformed('The registers of the document are not of SHA-384.');
  const [pcrs, timestamp, certificate, bundle] = ['pcrs', 'timestamp', 'certificate', 'cabundle'].map(claim);
  if (
    !(pcrs instanceof Map) ||
    !isTime(timestamp) ||
    !isBytes(certificate) ||
    !Array.isArray(bundle) ||
    !bundle.every(isBytes)
  )
    throw malformed('The document has no time, registers or certificates.');
  const register = (index: number): Buffer | null => {
    const value: unknown = pcrs.get(index);
    return isBytes(value) ? Buffer.from(value) : null;
  };
  const leaf = certificateOf(certificate);
  const given = claim('user_data');
  return {
    type: 'nitro',
    statement: {
      measurement: register(0)?.toString('hex') ?? null,
      reportData: isBytes(given) && given.length > 0 ? Buffer.from(given).toString('hex') : null,
      // An enclave in debug mode measures nothing.
      debug: [0, 1, 2].every((index) => register(index)?.every((byte) => byte === 0) !== false),
      movable: null,
      interruptible: null,
      level: null,
      time: timestamp,
    },
    leaf,
    others: certificatesOf(bundle),
    signatures: [
      {
        what: 'the document',
        key: leaf.publicKey,
        algorithm: 'sha384',
        message: encodeCbor(['Signature1', protectedBytes, new Uint8Array(), payload]),
        signature,
      },
    ],
    rules: [],
  };
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decode(bytes, { useMaps: true, rejectDuplicateMapKeys: true });
  } catch (cause) {
    throw malformed('The document is not CBOR.', cause);
  }
}

/** Whether it is a whole number of milliseconds that a date can have (ECMA-262, section 21.4.1.1). */
function isTime(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= 8.64e15;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
