import { TallyError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';
import type { EvidenceLeaf } from './leaf.ts';

/** The whole receipt behind a billed unit; `anchor` is its anchored result. The leaf follows from it. */
export type ReceiptEvidence = {
  unit: number;
  receipt: JsonObject;
  anchor?: JsonObject;
};

/** Evidence that may be given for a unit: the leaf, perhaps with the anchored result of its hash, or a whole receipt. */
export type EvidenceItem = (EvidenceLeaf & { anchor?: JsonObject }) | ReceiptEvidence;

/** An item that holds more than its leaf. Its unit and hash are not checked yet. */
interface RichItem {
  readonly unit: JsonValue;
  /** The whole receipt; undefined where the item gives the hash. */
  readonly receipt: JsonObject | undefined;
  /** The receipt's hash; undefined where the item gives the receipt. */
  readonly sha256: JsonValue | undefined;
  readonly anchor: JsonObject | undefined;
}

const MEMBERS = new Set(['unit', 'receipt', 'receipt_sha256', 'anchor']);

/**
 * Splits an item that has a receipt or an anchor into its parts; null for any other value, which is a leaf or invalid.
 * @throws invalid_field for a member that is not known, for an item with both a receipt and its hash, and for a receipt or
 * an anchor that is no object
 */
export function readRichItem(value: JsonValue, path: string): RichItem | null {
  if (!isObject(value) || (value.receipt === undefined && value.anchor === undefined)) return null;
  const stray = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (stray !== undefined) throw malformed(`${path}.${stray}`, 'is not known');
  const { unit = null, receipt, receipt_sha256: sha256, anchor } = value;
  if (receipt !== undefined && sha256 !== undefined) {
    throw malformed(`${path}.receipt_sha256`, 'is computed from receipt: give only one of the two');
  }
  return {
    unit,
    receipt: objectIn(receipt, `${path}.receipt`),
    sha256,
    anchor: objectIn(anchor, `${path}.anchor`),
  };
}

function objectIn(value: JsonValue | undefined, path: string): JsonObject | undefined {
  if (value === undefined || isObject(value)) return value;
  throw malformed(path, 'must be an object');
}

function malformed(field: string, what: string): TallyError {
  return new TallyError('invalid_field', `${field} ${what}.`, { field });
}
