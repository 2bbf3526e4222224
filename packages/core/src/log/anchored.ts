import { TallyError } from '../errors.ts';
import type { JsonValue } from '../json/types.ts';
import { leafHash } from '../merkle/hash.ts';
import { orNull } from '../or-null.ts';
import {
  type Fault,
  type Infer,
  integer,
  listOf,
  nonEmptyText,
  object,
  pattern,
  requireShape,
  sha256Text,
  text,
  timestamp,
} from '../receipts/shape.ts';
import { parseAnchorRef } from './anchor-ref.ts';

/** Longest path: a tree of fewer than 2^53 leaves needs no longer one. */
const MAX_PATH = 53;

const shape = object(
  {
    anchor_ref: text,
    /** The name of the chain. */
    network: nonEmptyText,
    block_height: integer(0),
    /** `0x` and 64 hex. */
    tx_hash: pattern(/^0x[0-9a-f]{64}$/, '0x and 64 lower-case hex characters'),
    /** `sha256:<hex>`: the root that was posted. */
    merkle_root: sha256Text,
    /** `sha256:<hex>` each, from the leaf's sibling to the root's child. */
    merkle_path: listOf(sha256Text, `a list of at most ${MAX_PATH} hashes`, MAX_PATH),
    /** Time at which the service saw that it was final. This is not signed. */
    verified_at: timestamp,
  },
  {
    optional: {
      /** Index of the leaf in the log, the same as in the reference's `short_id`. */
      leaf_index: integer(0),
      /** Number of leaves that the root covers. */
      tree_size: integer(1),
      /** The log's signed note of that root. */
      checkpoint: nonEmptyText,
    },
  },
);

/** Position of a receipt's hash in the log and on the chain (specification 2.9), as JSON on the wire. */
export type AnchoredResult = Infer<typeof shape>;

/**
 * Reads an anchored result whose members agree with each other. Members beyond the known ones are allowed; the last
 * three may be absent.
 * @throws anchor_invalid, naming the field
 */
export function readAnchoredResult(value: JsonValue): AnchoredResult {
  const result = requireShape(shape, value, 'anchor_invalid');
  const fault = contradiction(result);
  if (fault === null) return result;
  throw new TallyError('anchor_invalid', `${fault.field} must be ${fault.expected}.`, { field: fault.field });
}

/** The first member that contradicts the reference. */
function contradiction(result: AnchoredResult): Fault | null {
  const ref = orNull(() => parseAnchorRef(result.anchor_ref));
  if (ref?.kind !== 'anchored') {
    return { field: 'anchor_ref', expected: 'urn:anchor:<network>:<block_height>:<tx_hash>:<short_id>' };
  }
  const { network, blockHeight: block_height, txHash: tx_hash, index: leaf_index } = ref;
  for (const [field, value] of Object.entries({ network, block_height, tx_hash, leaf_index })) {
    const stated = result[field as keyof AnchoredResult];
    if (stated !== undefined && stated !== value) return { field, expected: `${value}, as in anchor_ref` };
  }
  const { tree_size } = result;
  return tree_size !== undefined && tree_size <= leaf_index
    ? { field: 'tree_size', expected: `more than the leaf index ${leaf_index}` }
    : null;
}

/** The index in the log of the leaf that the result is about. The result must have been read by `readAnchoredResult`. */
export function leafIndexOf({ anchor_ref }: AnchoredResult): number {
  return parseAnchorRef(anchor_ref).index;
}

/** The leaf in the log for an anchored hash (32 bytes): SHA-256(0x00 || hash). */
export function leafOf(anchoredHash: Uint8Array): Uint8Array {
  return leafHash(anchoredHash);
}
