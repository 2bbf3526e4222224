import { canonicalize, type JsonValue, type Verification } from '@tallystick/core';
import { type Results, resultsFor } from '../http/results.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type ReceiptInput, readReceipt } from './read.ts';

/** Limits of one request: 500 receipts, and 1 MiB of UTF-8, which is at most three bytes a character. */
const MAX_RECEIPTS = 500;
const MAX_CHARACTERS = 340_000;

/**
 * Asks the service to verify any number of receipts, in as many requests as needed, one after the other. Each is a
 * receipt, or `{receipt, evidence, anchor}` with the leaves of a metering receipt and the anchored result of any.
 * @returns the verdicts, in the order of the receipts
 * @throws json_* for a text that is not JSON; ServiceError
 */
export async function verifyMany(
  transport: Transport,
  receipts: Iterable<ReceiptInput>,
  call: CallOptions = {},
): Promise<Verification[]> {
  const { idempotencyKey: _ofOneRequest, ...each } = call;
  const verdicts: Verification[] = [];
  for (const batch of batches(receipts)) {
    const reply = await transport.post<Results<Verification>>(
      '/v1/receipts/verify',
      { receipts: batch },
      each,
    );
    verdicts.push(...resultsFor(reply, batch.length));
  }
  return verdicts;
}

function* batches(receipts: Iterable<ReceiptInput>): Generator<JsonValue[]> {
  let batch: JsonValue[] = [];
  let characters = 0;
  for (const receipt of receipts) {
    const document = readReceipt(receipt);
    const length = canonicalize(document).length + 1;
    if (batch.length > 0 && (batch.length === MAX_RECEIPTS || characters + length > MAX_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(document);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}
