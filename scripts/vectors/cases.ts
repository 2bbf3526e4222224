import type { EvidenceCounts, FamilyName, JsonObject, JsonValue } from '../../packages/core/src/index.ts';
import type { StoreName } from './stores.ts';

/** Time at which each case is verified, unless it says otherwise. */
export const NOW = '2026-01-15T12:00:00Z';
/** Time at which the receipts of the vectors were issued, unless a case says otherwise. */
export const ISSUED_AT = '2026-01-15T11:00:00Z';
export const ISSUED_MS = Date.parse(ISSUED_AT);
export const ISSUED_SECONDS = ISSUED_MS / 1000;

interface ExpectedVerdict {
  readonly valid: boolean;
  readonly integrity: boolean;
  readonly trusted: boolean;
  readonly family: FamilyName | null;
  /** The names of all checks that are false. */
  readonly failed_checks: readonly string[];
  /** The names of all checks that are null; absent if the case leaves them open. */
  readonly null_checks?: readonly string[];
  /** The member `evidence` of the verdict; absent if the case leaves it open. */
  readonly evidence?: EvidenceCounts;
}

/** One receipt to verify. `document` is the parsed receipt; `raw_base64` its bytes, if they matter. */
export interface ReceiptCase {
  readonly name: string;
  readonly comment: string;
  readonly document?: JsonValue;
  readonly raw_base64?: string;
  readonly trust: StoreName;
  readonly now: string;
  readonly evidence?: readonly JsonValue[];
  readonly expected: ExpectedVerdict | { readonly code: string };
}

export interface CaseOptions {
  readonly trust?: StoreName;
  readonly now?: string;
  readonly evidence?: readonly JsonValue[];
  /** Whether the issuer is trusted; by default so if the case is valid and the verifier knows the issuers. */
  readonly trusted?: boolean;
  readonly nulls?: readonly string[];
  readonly counts?: EvidenceCounts;
}

/** Checks that report a contradiction with what is known, not broken integrity. */
const CONTRADICTIONS = new Set([
  'issued_at',
  'issuer',
  'key_window',
  'pq_key_window',
  'anchor',
  'anchor_checkpoint',
  'anchor_transaction',
  'settlement_transaction',
]);

export function casesOf(family: FamilyName | null): {
  accepts: (name: string, comment: string, document: JsonValue, options?: CaseOptions) => ReceiptCase;
  refuses: (
    name: string,
    comment: string,
    document: JsonValue,
    failed: readonly string[],
    options?: CaseOptions,
  ) => ReceiptCase;
} {
  const judged = (
    name: string,
    comment: string,
    document: JsonValue,
    failed: readonly string[],
    options: CaseOptions,
  ): ReceiptCase => {
    const { trust = 'known', evidence, nulls, counts } = options;
    const valid = failed.length === 0;
    return {
      name,
      comment,
      document,
      trust,
      now: options.now ?? NOW,
      ...(evidence === undefined ? {} : { evidence }),
      expected: {
        valid,
        integrity: failed.every((check) => CONTRADICTIONS.has(check)),
        trusted: options.trusted ?? (valid && trust === 'known'),
        family,
        failed_checks: failed,
        ...(nulls === undefined ? {} : { null_checks: nulls }),
        ...(counts === undefined ? {} : { evidence: counts }),
      },
    };
  };
  return {
    accepts: (name, comment, document, options = {}) => judged(name, comment, document, [], options),
    refuses: (name, comment, document, failed, options = {}) =>
      judged(name, comment, document, failed, options),
  };
}

/** Checks that fail when the key can't be determined. */
export const NO_KEY = ['key', 'signature', 'issuer'] as const;

/** Checks that are null for a document that does not have the form of a receipt. */
export const NOT_REACHED = { trusted: false, nulls: ['signature'] } as const;

/** A change to a signed member, by its path, and the checks that then fail. */
export type Change = readonly [path: string, value: JsonValue, failed?: readonly string[]];

/** One refused case for each change to a document. */
export function changes(
  family: FamilyName,
  document: JsonObject,
  list: readonly Change[],
  apply: (document: JsonObject, path: string, value: JsonValue) => JsonObject,
): ReceiptCase[] {
  const { refuses } = casesOf(family);
  return list.map(([path, value, failed = ['signature']]) =>
    refuses(
      `${path} changed to ${JSON.stringify(value)}`,
      'Another value than was signed.',
      apply(document, path, value),
      failed,
    ),
  );
}
