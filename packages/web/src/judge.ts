import {
  anchoredHash,
  type JsonValue,
  parseJson,
  TallyError,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { leavesOf } from './documents.ts';
import type { TrustInUse } from './trust.ts';

/** A receipt and all that it is judged by. Times are Unix milliseconds. */
export interface Question {
  readonly receipt: Uint8Array;
  readonly evidence: Uint8Array | null;
  readonly now: number;
  /** Whether `now` was chosen by the reader, and is not the clock's. */
  readonly asOf: boolean;
  readonly anchoredAt: number | undefined;
  readonly trust: TrustInUse;
}

/** What came of it. `fault` is trouble with an input before there was anything to judge. */
export type Outcome =
  | { readonly fault: TallyError; readonly input: 'receipt' | 'evidence' }
  | {
      readonly fault: null;
      readonly receipt: JsonValue;
      readonly verdict: Verification;
      /** Hex; null where the document has not the form of a receipt. */
      readonly anchored: string | null;
    };

/** Judges one receipt. */
export async function judge({
  receipt: bytes,
  evidence,
  now,
  anchoredAt,
  trust,
}: Question): Promise<Outcome> {
  const receipt = attempt(() => parseJson(bytes));
  if (receipt instanceof TallyError) return { fault: receipt, input: 'receipt' };
  const leaves = evidence === null ? undefined : attempt(() => leavesOf(evidence));
  if (leaves instanceof TallyError) return { fault: leaves, input: 'evidence' };
  const verdict = await verifyParsed(receipt, {
    now,
    trust: trust.issuers,
    evidence: leaves,
    anchoredAt,
  });
  const anchored = attempt(() => anchoredHash(receipt));
  return { fault: null, receipt, verdict, anchored: typeof anchored === 'string' ? anchored : null };
}

function attempt<T>(act: () => T): T | TallyError {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
}
