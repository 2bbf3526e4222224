import {
  anchoredHash,
  isObject,
  type JsonValue,
  parseJson,
  TallyError,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { attempt } from './attempt.ts';
import { later } from './later/run.ts';
import type { TrustInUse } from './trust.ts';

/** A receipt and everything that it is judged by. Times are Unix milliseconds. */
export interface Question {
  /** If null, the one in the response is judged. */
  readonly receipt: Uint8Array | null;
  /** The body of an inference call's request, and the body or the stream of its answer. */
  readonly request: Uint8Array | null;
  readonly response: Uint8Array | null;
  readonly evidence: Uint8Array | null;
  /** The anchored result; if null, the one in the receipt is judged. */
  readonly anchor: Uint8Array | null;
  /** The reader's own witness policy. */
  readonly policy: Uint8Array | null;
  readonly now: number;
  /** Whether the reader chose `now`; otherwise it is the clock's time. */
  readonly asOf: boolean;
  readonly trust: TrustInUse;
}

/** Result of verifying. `fault` is an error in an input, found before there was anything to verify. */
export type Outcome =
  | { readonly fault: TallyError; readonly input: 'receipt' | 'evidence' | 'anchor' | 'witness policy' }
  | {
      readonly fault: null;
      readonly receipt: JsonValue;
      readonly verdict: Verification;
      /** The anchor that was verified; null if there was none. */
      readonly anchor: JsonValue;
      /** Anchored hash, hex; null if the document does not have the form of a receipt. */
      readonly anchored: string | null;
    };

/** Judges one receipt. */
export async function evaluate(question: Question): Promise<Outcome> {
  const { receipt: bytes, request, response, evidence, anchor, policy, now, trust } = question;
  const call = (request ?? response) === null ? null : later().read(question);
  const receipt = call?.receipt ?? attempt(() => parseJson(bytes ?? new Uint8Array()));
  if (receipt instanceof TallyError) return { fault: receipt, input: 'receipt' };
  const leaves = evidence === null ? undefined : later().readLeaves(evidence);
  if (leaves !== undefined && 'code' in leaves) return { fault: leaves, input: 'evidence' };
  const witnessPolicy = policy === null ? undefined : later().readPolicy(policy);
  if (witnessPolicy !== undefined && 'code' in witnessPolicy)
    return { fault: witnessPolicy, input: 'witness policy' };
  const givenAnchor = anchor === null ? null : attempt(() => parseJson(anchor));
  if (givenAnchor instanceof TallyError) return { fault: givenAnchor, input: 'anchor' };
  const found = await verifyParsed(receipt, {
    now,
    trust: trust.issuers,
    evidence: leaves,
    anchor: givenAnchor,
    witnessPolicy,
  });
  const verdict = call === null ? found : later().callVerdict(call, found);
  const anchored = attempt(() => anchoredHash(receipt));
  return {
    fault: null,
    receipt,
    verdict,
    anchor: givenAnchor ?? (isObject(receipt) ? (receipt.anchor ?? null) : null),
    anchored: typeof anchored === 'string' ? anchored : null,
  };
}
