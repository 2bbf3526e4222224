import { type CorrectionVerdict, verifyCorrections as verifyWith } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { GetCorrectionsAnswer } from '../methods/documents.ts';
import { read } from '../methods/read.ts';
import { type KnownIssuers, knownIssuers } from '../trust/known-issuers.ts';
import type { EnvelopeReceipt } from './documents.ts';
import { type Issued, issuedIn } from './issued.ts';
import { type ReceiptInput, readReceipt } from './read.ts';

export interface CorrectReceiptParams {
  /** Id of the receipt that is superseded. */
  readonly corrects: string;
  /** Id of the receipt that supersedes it. */
  readonly correction: string;
  /** Why, in words: it is signed. */
  readonly reason?: string | undefined;
}

/** Receipts that supersede others (spec/corrections.md). */
export interface CorrectionMethods {
  /**
   * Has an envelope signed and anchored that says that one receipt of the account corrects another. Needs an API key or a tenant
   * key. The same request again returns the same envelope.
   * @throws ServiceError (receipt_not_found, receipt_purged, already_corrected, invalid_field)
   */
  correctReceipt(params: CorrectReceiptParams, call?: CallOptions): Promise<Issued<EnvelopeReceipt>>;
  /** Reads what corrects a receipt, and what it corrects. @throws ServiceError (receipt_not_found, receipt_purged) */
  getCorrections(receiptId: string, call?: CallOptions): Promise<GetCorrectionsAnswer>;
}

export function correctionMethods(transport: Transport): CorrectionMethods {
  return {
    correctReceipt: async (params, call) =>
      issuedIn(await transport.post('/v1/receipt/corrections', { ...params }, call)),
    getCorrections: async (receiptId, call) =>
      read(transport, `/v1/receipt/${pathPart(receiptId, 'receiptId')}/corrections`, call),
  };
}

export interface VerifyCorrectionsOptions extends KnownIssuers {
  /** Time to judge at, in Unix milliseconds: now when absent. */
  readonly now?: number | undefined;
}

/**
 * Finds locally which of the given receipts correct which, by the envelopes that link them. `verifyReceipt` gives the verdict on
 * each receipt, which no correction changes.
 * @throws as `verifyReceipt`
 */
export async function verifyCorrections(
  receipts: Iterable<ReceiptInput>,
  { trust, issuer, now = Date.now() }: VerifyCorrectionsOptions = {},
): Promise<CorrectionVerdict[]> {
  const known = await knownIssuers({ trust, issuer }, now);
  return verifyWith([...receipts].map(readReceipt), { now, trust: known });
}
