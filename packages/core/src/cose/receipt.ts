import type { Signer } from '../ed25519/signer.ts';
import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { isHash } from '../merkle/hash.ts';
import { isTreeSize } from '../merkle/subtree.ts';
import {
  decodeCbor,
  encodeCbor,
  HEADER,
  type HeaderMap,
  parseSign1,
  type Sign1,
  signDetached,
} from './sign1.ts';

/** The data structure: the Merkle tree of RFC 9162 over SHA-256, which is that of RFC 6962. */
const RFC9162_SHA256 = 1;

/** Label of proofs of inclusion among the proofs of a receipt. */
const INCLUSION = -1;

/** Longest path: a tree of fewer than 2^53 leaves needs no longer one. */
const MAX_PATH = 53;

/** A proof that a leaf is in a tree (RFC 9942, section 5.2). */
export interface CoseInclusion {
  /** Index of the leaf, from 0. */
  readonly index: number;
  /** Number of leaves of the tree. */
  readonly size: number;
  /** Sibling hashes from the leaf to the root, 32 bytes each. */
  readonly path: readonly Uint8Array[];
}

/** A COSE Receipt of inclusion (RFC 9942). Reading it checks its form only. */
export interface CoseReceipt extends CoseInclusion {
  readonly message: Sign1;
}

/** What a receipt of this log says beside the proof. */
export interface CoseReceiptClaims {
  /** DID of the service. */
  readonly issuer: string;
  /** What the receipt is about. */
  readonly subject: string;
}

/**
 * A COSE Receipt of inclusion, signed over the root of the tree, which stands in no receipt: who checks one computes it.
 * The algorithm is EdDSA, and the key's name is its did:key.
 * @param root of the tree with `size` leaves, 32 bytes
 */
export function signCoseReceipt(
  { index, size, path }: CoseInclusion,
  root: Uint8Array,
  { issuer, subject }: CoseReceiptClaims,
  signer: Signer,
): Promise<Uint8Array<ArrayBuffer>> {
  const header: HeaderMap = new Map<number, unknown>([
    [HEADER.alg, -8],
    [HEADER.kid, utf8(signer.keyId)],
    [
      HEADER.claims,
      new Map([
        [1, issuer],
        [2, subject],
      ]),
    ],
    [HEADER.vds, RFC9162_SHA256],
  ]);
  const proofs = new Map([[INCLUSION, [encodeCbor([size, index, path])]]]);
  return signDetached(header, new Map([[HEADER.vdp, proofs]]), root, signer);
}

/** @throws cose_invalid for what is no COSE Receipt with one proof of inclusion in such a tree */
export function parseCoseReceipt(bytes: Uint8Array): CoseReceipt {
  const message = parseSign1(bytes);
  const { protectedHeader, unprotectedHeader, payload } = message;
  if (protectedHeader.get(HEADER.vds) !== RFC9162_SHA256)
    throw invalid(
      'It is no receipt of a tree as in RFC 9162 with SHA-256 (vds 1), the only kind that is read.',
    );
  if (payload !== null) throw invalid('The payload of a receipt of inclusion is detached: its tree’s root.');
  const proofs = unprotectedHeader.get(HEADER.vdp);
  const inclusion: unknown = proofs instanceof Map ? proofs.get(INCLUSION) : undefined;
  const [proof, ...more] = Array.isArray(inclusion) ? (inclusion as unknown[]) : [];
  if (!(proof instanceof Uint8Array) || more.length > 0)
    throw invalid('It does not have exactly one proof of inclusion.');
  const decoded = decodeCbor(proof);
  const [size, index, path, ...rest] = Array.isArray(decoded) ? (decoded as unknown[]) : [];
  if (
    !isTreeSize(size) ||
    !isTreeSize(index) ||
    index >= size ||
    !Array.isArray(path) ||
    path.length > MAX_PATH ||
    !path.every(isHash) ||
    rest.length > 0
  )
    throw invalid(
      'A proof of inclusion is the size of the tree, the index of a leaf in it, and hashes of 32 bytes.',
    );
  return { message, index, size, path: path };
}

const invalid = (message: string): TallyError => new TallyError('cose_invalid', message);
