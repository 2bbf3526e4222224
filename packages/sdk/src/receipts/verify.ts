import type { Verification } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type ReceiptInput, readReceipt } from './read.ts';

export interface RemoteVerifyOptions extends CallOptions {
  /** The evidence behind a metering receipt, in order: leaves, or whole receipts. */
  readonly evidence?: readonly object[] | undefined;
  /** The receipt's anchored result. When absent, the one in the receipt. */
  readonly anchor?: ReceiptInput | undefined;
}

/**
 * Asks the service to verify a receipt by its own trust. `verifyReceipt` needs no service.
 * @throws json_* for a text that is not JSON; ServiceError (not_a_receipt…)
 */
export async function verify(
  transport: Transport,
  receipt: ReceiptInput,
  { evidence, anchor, ...call }: RemoteVerifyOptions = {},
): Promise<Verification> {
  const members = {
    receipt: readReceipt(receipt),
    evidence,
    anchor: anchor === undefined ? undefined : readReceipt(anchor),
  };
  const { json } = await transport.post<Verification>('/v1/receipt/verify', members, call);
  return json;
}
