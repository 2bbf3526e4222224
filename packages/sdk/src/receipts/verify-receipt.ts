import {
  type AnchorTransaction,
  type JsonValue,
  type SettlementTransaction,
  type Verification,
  verifyParsed,
  type WitnessPolicy,
} from '@tallystick/core';
import { type KnownIssuers, knownIssuers } from '../trust/known-issuers.ts';
import { type ReceiptInput, readReceipt } from './read.ts';

export interface VerifyReceiptOptions extends KnownIssuers {
  /** Time to judge at, in Unix milliseconds: now when absent. */
  readonly now?: number | undefined;
  /** The evidence behind a metering receipt, in order: leaves, or whole receipts, which are verified too. */
  readonly evidence?: Iterable<JsonValue> | undefined;
  /** The receipt's anchored result, as text, bytes or document. When absent, the one in the receipt. */
  readonly anchor?: ReceiptInput | undefined;
  /**
   * The anchor's transaction as a node of the chain returned it, in a block that is final. Null if the chain has none,
   * absent if the chain was not asked: then nothing proves when the receipt existed.
   */
  readonly transaction?: AnchorTransaction | null | undefined;
  /** The transaction that the receipt names as its settlement, likewise: without it, nothing is known about the payment. */
  readonly settlement?: SettlementTransaction | null | undefined;
  /** Witnesses that must have cosigned the anchor's checkpoint (`parseWitnessPolicy`); the verdict is `witnessed`. */
  readonly witnessPolicy?: WitnessPolicy | undefined;
}

/**
 * Verifies a receipt of any family locally, without the network. `valid` says that the bytes are as they were
 * signed and that the rules hold; `issuer.trusted` that the key belongs to a verified issuer of the trust given.
 * @throws json_* for a text that is not JSON, of the receipt or the anchor; trust_expired, trust_unavailable for a
 * store that holds nothing; issuer_proof_invalid for a record that does not follow from its history
 */
export async function verifyReceipt(
  receipt: ReceiptInput,
  {
    trust,
    issuer,
    now = Date.now(),
    evidence,
    anchor,
    transaction,
    settlement,
    witnessPolicy,
  }: VerifyReceiptOptions = {},
): Promise<Verification> {
  const document = readReceipt(receipt);
  return verifyParsed(document, {
    now,
    trust: await knownIssuers({ trust, issuer }, now),
    evidence,
    anchor: anchor === undefined ? undefined : readReceipt(anchor),
    transaction,
    settlement,
    witnessPolicy,
  });
}
