import { fromHex, toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { parseLine } from '../json/lines.ts';
import type { JsonValue } from '../json/types.ts';
import { CompactRange } from '../merkle/compact-range.ts';
import { leafHash } from '../merkle/hash.ts';
import { hex64, integer, isObject, object } from '../receipts/shape.ts';
import { readCanonicalLeaf } from './canonical-leaf.ts';
import { HashSet } from './hash-set.ts';
import { type EvidenceLeaf, leafBytes } from './leaf.ts';
import { UnitSet } from './unit-set.ts';

export interface EvidenceSummary {
  /** billed_unit_count: the number of units billed. */
  readonly billed: number;
  /** Number of units that have evidence. */
  readonly backed: number;
  /** RFC 6962 root over the leaves in the order supplied: 64 hex. */
  readonly digest: string;
}

/**
 * Takes the leaves `{"unit": n, "receipt_sha256": "<64 hex>"}` of one bill, in order, and sums them up.
 * A leaf's bytes are its JCS. No unit and no receipt may back twice. A leaf that is refused changes nothing.
 *
 * Memory: one bit for each unit, and at most 44 bytes for each leaf to recognise its receipt.
 */
export class EvidenceTally {
  readonly #billed: number;
  readonly #shape;
  readonly #sha256: Sha256;
  readonly #tree: CompactRange;
  readonly #units: UnitSet;
  readonly #receipts = new HashSet();
  readonly #receipt = new Uint8Array(32);

  /**
   * @param billed billed_unit_count, 0 to 10,000,000: units are 1..billed
   * @param hash what leaves and nodes are hashed with; core's own SHA-256 when absent
   */
  constructor(billed: number, hash: Sha256 = sha256) {
    this.#billed = billed;
    this.#shape = object({ unit: integer(1, billed), receipt_sha256: hex64 }, { closed: true });
    this.#sha256 = hash;
    this.#tree = new CompactRange(undefined, hash);
    this.#units = new UnitSet(billed);
  }

  /** Leaves taken so far. */
  get backed(): number {
    return this.#tree.size;
  }

  /**
   * @param path what the errors call the leaf; `evidence[i]` when absent
   * @throws invalid_field for a malformed leaf; metering_unit_range for a unit beyond the bill or a leaf more than
   * there are units; metering_unit_twice and metering_receipt_twice for one that backs a second time
   */
  add(value: JsonValue, path = `evidence[${this.backed}]`): void {
    this.#requireRoom(path);
    const fault = this.#shape(value, path);
    if (fault !== null) {
      const unit = isObject(value) && fault.field === `${path}.unit` ? value.unit : undefined;
      throw refused(
        Number.isSafeInteger(unit) ? 'metering_unit_range' : 'invalid_field',
        fault.field,
        `must be ${fault.expected}`,
      );
    }
    const leaf = value as EvidenceLeaf;
    this.#receipt.set(fromHex(leaf.receipt_sha256));
    this.#place(leaf.unit, leafBytes(leaf), path);
  }

  /**
   * Adds a leaf from JSON bytes: the same as to parse them and `add`, several times as fast where they are its JCS.
   * @param path what the errors call the leaf: `line 7`
   * @throws what `parseLine` and `add` do
   */
  addJson(bytes: Uint8Array, path: string): void {
    if (!this.addCanonical(bytes, path)) this.add(parseLine(bytes, path), path);
  }

  /**
   * Adds a leaf from bytes that are its JCS. Returns false, and adds nothing, when the bytes are anything else.
   * @throws as `add` does
   */
  addCanonical(bytes: Uint8Array, path: string): boolean {
    const unit = readCanonicalLeaf(bytes, this.#receipt);
    if (unit === 0) return false;
    this.#requireRoom(path);
    if (unit > this.#billed) {
      throw refused('metering_unit_range', `${path}.unit`, `must be an integer from 1 to ${this.#billed}`);
    }
    this.#place(unit, bytes, path);
    return true;
  }

  /** The anchored hash, 32 bytes, of the leaf that was taken last. */
  get lastReceipt(): Uint8Array {
    return this.#receipt.slice();
  }

  summary(): EvidenceSummary {
    return { billed: this.#billed, backed: this.backed, digest: toHex(this.#tree.root()) };
  }

  #requireRoom(path: string): void {
    if (this.backed < this.#billed) return;
    throw refused('metering_unit_range', path, `is one leaf too many: ${this.#billed} units were billed`);
  }

  /** Adds a leaf whose receipt is in `#receipt`. */
  #place(unit: number, bytes: Uint8Array, path: string): void {
    if (this.#units.has(unit)) {
      throw refused('metering_unit_twice', `${path}.unit`, `is ${unit}, which already has evidence`);
    }
    if (!this.#receipts.add(this.#receipt)) {
      throw refused(
        'metering_receipt_twice',
        `${path}.receipt_sha256`,
        `is ${toHex(this.#receipt)}, which already backs another unit`,
      );
    }
    this.#units.add(unit);
    this.#tree.append(leafHash(bytes, this.#sha256));
  }
}

type EvidenceErrorCode =
  | 'invalid_field'
  | 'metering_unit_range'
  | 'metering_unit_twice'
  | 'metering_receipt_twice';

function refused(code: EvidenceErrorCode, field: string, what: string): TallyError {
  return new TallyError(code, `${field} ${what}.`, { field });
}
