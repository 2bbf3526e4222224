import {
  checkBill,
  type EvidenceSummary,
  EvidenceTally,
  type JsonObject,
  type JsonValue,
  mintMetering,
  secondsOf,
  TallyError,
} from '@tallystick/core';
import { nodeSha256 } from '../crypto/node-sha256.ts';
import type { ReceiptRow, Store } from '../store/store.ts';
import { expiryOf, type Keeping, type Minted, type ReceiptContext, storeReceipt } from './mint.ts';

/**
 * A tally for the bill's evidence. Refuses at once what minting would refuse after all leaves were read.
 * @throws what `checkBill` does; metering_compiled_before_key for a receipt that no verifier would accept
 */
export function openTally({ issuer, clock }: ReceiptContext, bill: JsonObject): EvidenceTally {
  const { compiled_at, billed_unit_count } = checkBill(bill, { now: clock() });
  const { keyId } = issuer.signer('receipt');
  const key = issuer.keyring.document.keys.find(({ key_id }) => key_id === keyId);
  if (key !== undefined && secondsOf(compiled_at) < secondsOf(key.valid_from)) {
    throw new TallyError(
      'metering_compiled_before_key',
      `compiled_at is before ${key.valid_from}, when the key that signs now came into use. Leave compiled_at out.`,
      { field: 'compiled_at' },
    );
  }
  return new EvidenceTally(billed_unit_count, nodeSha256);
}

/** The summary of leaves that are in memory already. Throws as `EvidenceTally.add` does. */
export function tallyAll(tally: EvidenceTally, leaves: readonly JsonValue[]): EvidenceSummary {
  for (const leaf of leaves) tally.add(leaf);
  return tally.summary();
}

/**
 * Mints the metering receipt of a bill. Resolves after it is durable. Its id follows from its contents: the same
 * bill compiled at the same instant is answered with the receipt that is there.
 * @throws what `mintMetering` does; idempotency_key_reused, receipt_purged, unavailable
 */
export async function mintBill(
  { store, issuer, clock }: ReceiptContext,
  bill: JsonObject,
  evidence: EvidenceSummary,
  { idempotency, finish, tenant }: Keeping,
): Promise<Minted> {
  const now = clock();
  const body = await mintMetering(bill, evidence, { now }, issuer.signer('receipt'));
  const { receipt_id: id } = identity(body);
  const kept = { id, body, tenant: tenant ?? null };
  const earlier = await sameBill(store, kept);
  if (earlier !== null) return earlier;
  const issuedAt = Math.floor(now / 1000);
  const row: ReceiptRow = {
    id,
    profile: 'metering',
    tenant: kept.tenant,
    body: finish === undefined ? body : await finish(body),
    issuedAt,
    expiresAt: expiryOf('metering', issuedAt),
  };
  const stored = (await storeReceipt(store, row, idempotency)) ?? (await sameBill(store, kept));
  if (stored !== null) return stored;
  throw new TallyError('unavailable', 'The receipt could not be given its id. Send the bill again.');
}

/** The receipt that is under the id, if any: it must be of the same signed body, but its key may be another. */
async function sameBill(
  store: Store,
  { id, body, tenant }: Pick<ReceiptRow, 'id' | 'body' | 'tenant'>,
): Promise<Minted | null> {
  const earlier = await store.getReceipt(id);
  if (earlier.kind === 'unknown') return null;
  if (earlier.kind === 'purged' && earlier.tenant === tenant) {
    throw new TallyError('receipt_purged', 'This bill had a receipt, which was deleted after its retention.');
  }
  const same =
    earlier.kind === 'found' &&
    earlier.tenant === tenant &&
    identity(earlier.body).payload_sha256 === identity(body).payload_sha256;
  if (same) return { receipt: earlier.body, replayed: true };
  throw new TallyError(
    'unavailable',
    'Another receipt has the id that follows from this bill. Compile it again.',
  );
}

function identity(receipt: string): { receipt_id: string; payload_sha256: string } {
  return JSON.parse(receipt) as { receipt_id: string; payload_sha256: string };
}
