import { type Results, resultsFor } from '../http/results.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { Anchor } from './anchor.ts';
import { canonicalSha256, type HashOrReceipt } from './hash.ts';

/** Most hashes that the service accepts in one request. */
const MAX_HASHES = 10_000;

/**
 * Has any number of hashes anchored, 10,000 in each request, one request after the other. The service accepts all of
 * a request or none; if a later one is refused, sending them all again costs nothing for those already in the log.
 * @returns their anchors, in the order of the hashes
 * @throws as `anchor`
 */
export async function anchorBatch(
  transport: Transport,
  hashes: Iterable<HashOrReceipt>,
  call: CallOptions = {},
): Promise<Anchor[]> {
  const { idempotencyKey: _ofOneRequest, ...each } = call;
  const anchors: Anchor[] = [];
  for (const canonical_sha256 of batches(hashes)) {
    const reply = await transport.post<Results<Anchor>>('/v1/anchor/batch', { canonical_sha256 }, each);
    for (const anchor of resultsFor(reply, canonical_sha256.length)) anchors.push(anchor);
  }
  return anchors;
}

function* batches(hashes: Iterable<HashOrReceipt>): Generator<string[]> {
  let batch: string[] = [];
  for (const hash of hashes) {
    batch.push(canonicalSha256(hash));
    if (batch.length < MAX_HASHES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
