import {
  type AssessedEvidence,
  checkBill,
  type EvidenceClass,
  EvidenceIntake,
  type EvidenceSources,
  type EvidenceSummary,
  evidenceVerifier,
  type JsonObject,
  type JsonValue,
  mintMetering,
  TallyError,
} from '@tallystick/core';
import type { TrustService } from '@tallystick/issuers';
import type { ReceiptRow } from '@tallystick/kit';
import { nodeEngine, nodeSha256 } from '@tallystick/kit';
import type { LogStore } from '@tallystick/log';
import type { Draft } from './issue.ts';
import { expiryOf, type SigningContext } from './mint.ts';
import type { ReceiptStore } from './receipt-store.ts';
import { keptReceipt } from './retention.ts';

/** What taking the evidence of a bill needs of the service. `clock` gives Unix milliseconds. */
interface EvidenceContext {
  readonly store: { readonly log: LogStore };
  readonly trust: Pick<TrustService, 'issuers' | 'forReceipt'>;
  readonly clock: () => number;
}

/** Judges receipts that are given as evidence as the service verifies any receipt, and hashes by the service's own log. */
export function evidenceSources({ store, trust }: Omit<EvidenceContext, 'clock'>): Required<EvidenceSources> {
  return {
    trustFor: (receipt) => trust.forReceipt(receipt),
    areLogged: async (hashes) => (await store.log.indexesOf(hashes)).map((index) => index !== null),
  };
}

/**
 * Opens the intake of a bill's evidence. Refuses at once what minting would refuse after all leaves were read.
 * @param policy the least class of leaf that is accepted
 * @throws what `checkBill` does
 */
export function openIntake(
  context: EvidenceContext,
  bill: JsonObject,
  policy: EvidenceClass,
): EvidenceIntake {
  const now = context.clock();
  const checked = checkBill(bill, { now });
  const verifier = evidenceVerifier({
    now,
    trust: context.trust.issuers(),
    engine: nodeEngine,
    evidenceSources: evidenceSources(context),
  });
  return new EvidenceIntake(checked, verifier, { policy, hash: nodeSha256 });
}

/** Takes evidence that is in memory already. Throws as `EvidenceIntake` does. */
export async function takeAll(
  intake: EvidenceIntake,
  items: readonly JsonValue[],
): Promise<AssessedEvidence> {
  try {
    for (const item of items) intake.add(item);
  } catch (error) {
    // An earlier item that is refused is told first.
    await intake.settle();
    throw error;
  }
  return intake.finish();
}

/**
 * Signs the metering receipt of a bill. Its id follows from its contents: the same bill compiled at the same instant is
 * answered with the receipt that is there.
 * @param tenant whose receipt it is to be; null of a public one
 * @throws what `mintMetering` does; its `earlier` throws receipt_purged, unavailable
 */
export async function signBill(
  { store, issuer, clock }: BillContext,
  bill: JsonObject,
  evidence: EvidenceSummary,
  tenant: string | null,
): Promise<Draft> {
  const now = clock();
  const signed = await mintMetering(bill, evidence, { now }, issuer.signer('receipt'));
  const { receipt_id: id } = identity(signed);
  const issuedAt = Math.floor(now / 1000);
  return {
    id,
    profile: 'metering',
    issuedAt,
    expiresAt: expiryOf('metering', issuedAt),
    signed,
    earlier: () => sameBill(store, { id, body: signed, tenant }, now),
  };
}

interface BillContext extends SigningContext {
  readonly store: Pick<ReceiptStore, 'getReceipt'>;
}

/** The receipt that is under the id, if any: it must be of the same signed body, but its key may be another. */
async function sameBill(
  store: Pick<ReceiptStore, 'getReceipt'>,
  { id, body, tenant }: Pick<ReceiptRow, 'id' | 'body' | 'tenant'>,
  now: number,
): Promise<string | null> {
  const earlier = await keptReceipt(store, id, now);
  if (earlier.kind === 'unknown') return null;
  if (earlier.kind === 'purged' && earlier.tenant === tenant) {
    throw new TallyError(
      'receipt_purged',
      'This bill already had a receipt, whose retention period has ended.',
    );
  }
  const same =
    earlier.kind === 'found' &&
    earlier.tenant === tenant &&
    identity(earlier.body).payload_sha256 === identity(body).payload_sha256;
  if (same) return earlier.body;
  throw new TallyError(
    'unavailable',
    'Another receipt already has the id that follows from this bill. Compile the bill again.',
  );
}

function identity(receipt: string): { receipt_id: string; payload_sha256: string } {
  return JSON.parse(receipt) as { receipt_id: string; payload_sha256: string };
}
