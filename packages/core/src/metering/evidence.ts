import { toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { CompactRange } from '../merkle/compact-range.ts';
import { leafHash } from '../merkle/hash.ts';
import { hex64, integer, object } from '../receipts/shape.ts';

export interface EvidenceSummary {
  /** Units that carry evidence. */
  readonly backed: number;
  /** RFC 6962 root over the leaves in the order supplied: 64 hex. */
  readonly digest: string;
}

/**
 * Takes the leaves `{"unit": n, "receipt_sha256": "<64 hex>"}` of one bill, in order, and sums them up.
 * A leaf's bytes are its JCS. Neither a unit nor a receipt may back twice.
 */
export class EvidenceTally {
  readonly #shape;
  readonly #tree = new CompactRange();
  readonly #units = new Set<number>();
  readonly #receipts = new Set<string>();

  /** @param billed billed_unit_count: units are 1..billed */
  constructor(billed: number) {
    this.#shape = object({ unit: integer(1, billed), receipt_sha256: hex64 }, { closed: true });
  }

  /** @throws invalid_field with the path `evidence[i]…` for a malformed leaf or one that backs a second time */
  add(leaf: JsonValue): void {
    const path = `evidence[${this.#units.size}]`;
    const fault = this.#shape(leaf, path);
    if (fault !== null) {
      throw new TallyError('invalid_field', `${fault.field} must be ${fault.expected}.`, {
        field: fault.field,
      });
    }
    const { unit, receipt_sha256: receipt } = leaf as JsonObject & { unit: number; receipt_sha256: string };
    if (this.#units.has(unit)) throw twice(`${path}.unit`, `unit ${unit}`);
    if (this.#receipts.has(receipt)) throw twice(`${path}.receipt_sha256`, `the receipt ${receipt}`);
    this.#units.add(unit);
    this.#receipts.add(receipt);
    this.#tree.append(leafHash(canonicalBytes(leaf)));
  }

  summary(): EvidenceSummary {
    return { backed: this.#units.size, digest: toHex(this.#tree.root()) };
  }
}

function twice(field: string, what: string): TallyError {
  return new TallyError('invalid_field', `${field}: ${what} already backs this bill; each may do so once.`, {
    field,
  });
}
