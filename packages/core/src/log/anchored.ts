import { TallyError } from '../errors.ts';
import type { JsonValue } from '../json/types.ts';
import { leafHash } from '../merkle/hash.ts';
import { orNull } from '../or-null.ts';
import {
  type Fault,
  integer,
  nonEmptyText,
  object,
  pattern,
  type Rule,
  sha256Text,
  text,
  timestamp,
} from '../receipts/shape.ts';
import { parseAnchorRef } from './anchor-ref.ts';

/** Position of a receipt's hash in the log and on the chain (specification 2.9), as JSON on the wire. */
export interface AnchoredResult {
  readonly anchor_ref: string;
  /** The name of the chain. */
  readonly network: string;
  readonly block_height: number;
  /** `0x` and 64 hex. */
  readonly tx_hash: string;
  /** `sha256:<hex>`: the root that was posted. */
  readonly merkle_root: string;
  /** `sha256:<hex>` each, from the leaf's sibling to the root's child. */
  readonly merkle_path: readonly string[];
  /** Time at which the service saw that it was final. This is not signed. */
  readonly verified_at: string;
  /** The same as the reference's `short_id` says. */
  readonly leaf_index?: number;
  /** Number of leaves that the root covers. */
  readonly tree_size?: number;
  /** The log's signed note of that root. */
  readonly checkpoint?: string;
}

/** A path in a tree of fewer than 2^53 leaves is no longer. */
const MAX_PATH = 53;

const path: Rule = (value, field) => {
  if (!Array.isArray(value) || value.length > MAX_PATH)
    return { field, expected: `a list of at most ${MAX_PATH} hashes` };
  for (const [index, hash] of value.entries()) {
    const fault = sha256Text(hash, `${field}[${index}]`);
    if (fault !== null) return fault;
  }
  return null;
};

const shape = object(
  {
    anchor_ref: text,
    network: nonEmptyText,
    block_height: integer(0),
    tx_hash: pattern(/^0x[0-9a-f]{64}$/, '0x and 64 lower-case hex characters'),
    merkle_root: sha256Text,
    merkle_path: path,
    verified_at: timestamp,
  },
  { optional: { leaf_index: integer(0), tree_size: integer(1), checkpoint: nonEmptyText } },
);

/**
 * Reads an anchored result whose members agree with each other. Members beyond the known ones are allowed; the last
 * three may be absent.
 * @throws anchor_invalid, naming the field
 */
export function readAnchoredResult(value: JsonValue): AnchoredResult {
  const fault = shape(value, '') ?? contradiction(value as unknown as AnchoredResult);
  if (fault === null) return value as unknown as AnchoredResult;
  throw new TallyError('anchor_invalid', `${fault.field} must be ${fault.expected}.`, { field: fault.field });
}

/** The first member that says another thing than the reference. */
function contradiction(result: AnchoredResult): Fault | null {
  const ref = orNull(() => parseAnchorRef(result.anchor_ref));
  if (ref?.kind !== 'anchored') {
    return { field: 'anchor_ref', expected: 'urn:anchor:<network>:<block_height>:<tx_hash>:<short_id>' };
  }
  const { network, blockHeight: block_height, txHash: tx_hash, index: leaf_index } = ref;
  for (const [field, value] of Object.entries({ network, block_height, tx_hash, leaf_index })) {
    const said = result[field as keyof AnchoredResult];
    if (said !== undefined && said !== value) return { field, expected: `${value}, as in anchor_ref` };
  }
  const { tree_size } = result;
  return tree_size !== undefined && tree_size <= leaf_index
    ? { field: 'tree_size', expected: `more than the leaf index ${leaf_index}` }
    : null;
}

/** The place in the log that a result, read before, is about. */
export function leafIndexOf({ anchor_ref }: AnchoredResult): number {
  return parseAnchorRef(anchor_ref).index;
}

/** The leaf that the log keeps of an anchored hash (32 bytes): SHA-256(0x00 || hash). */
export function leafOf(anchoredHash: Uint8Array): Uint8Array {
  return leafHash(anchoredHash);
}
