import {
  copyJson,
  type EvidenceClass,
  type EvidenceCounts,
  type EvidenceItem,
  evidenceCountsIn,
  formatTimestamp,
  type JsonObject,
  type MeteringReceipt,
} from '@tallystick/core';
import { type Lines, ndjsonUpload } from '../http/ndjson.ts';
import { type CallOptions, defined, type Transport } from '../http/transport.ts';
import type { ServiceUnit, SettlementClass } from './documents.ts';
import { type Issued, issuedIn } from './issued.ts';

/** Most leaves of an array that are sent as one JSON document; more would pass the service's limit and are sent as lines. */
const MOST_IN_JSON = 5_000;

/** A bill's facts (specification 2.2 to 2.5); the service derives the rest. Commitments are 64 hex, as `commitBill` gives. */
export interface MeterParams {
  readonly machineCommitment: string;
  readonly customerCommitment: string;
  readonly saltCommitment: string;
  /** Start of the window: a Date, or `YYYY-MM-DDThh:mm:ss[.f{1,9}]Z`. The window ends after it starts. */
  readonly windowStart: string | Date;
  readonly windowEnd: string | Date;
  /** Time at which the bill was compiled, no earlier than the window's end: the service's clock when absent. */
  readonly compiledAt?: string | Date | undefined;
  readonly serviceUnit: ServiceUnit;
  /** Number of units billed: 0 to 10,000,000. */
  readonly billedUnitCount: number;
  /**
   * An item for each unit that has evidence, in order: its leaf (see `evidenceLeaf`), or the whole receipt, which the
   * service then verifies (see `evidenceReceipt`). Arrays and functions can be sent again when an attempt fails;
   * anything else is read once, and then the request is attempted once.
   */
  readonly evidence: Lines<EvidenceItem>;
  /**
   * Least class of evidence that is accepted: `verified` accepts whole receipts only, `logged` also hashes that are in the
   * log of the service, `hashed` any hash. `hashed` when absent. It is not signed.
   */
  readonly evidencePolicy?: EvidenceClass | undefined;
  readonly rate: {
    /** Rate per unit in minor units of the currency: 0 to 100,000,000. */
    readonly unitRateMinor: number;
    /** Currency code, three capitals: `EUR`. */
    readonly currency: string;
    readonly rateCommitment: string;
  };
  readonly settlementBinding?:
    | { readonly settlementClass: SettlementClass; readonly settlementCommitment: string }
    | undefined;
  /** Whether to anchor the receipt's hash. Needs an API key. */
  readonly anchor?: boolean | undefined;
}

/** A bill's receipt, and its evidence counted by class; null if the service did not return the counts. */
export interface IssuedBill extends Issued<MeteringReceipt> {
  readonly evidence: EvidenceCounts | null;
}

/**
 * Has a metering receipt signed for a bill. Up to 10,000,000 leaves, streamed in bounded memory: `timeoutMs` then
 * limits each piece that is sent, and the answer after the last one.
 * @throws ServiceError (the metering_* codes, invalid_field…); whatever the iterator of the evidence throws
 */
export async function meter(
  transport: Transport,
  params: MeterParams,
  call?: CallOptions,
): Promise<IssuedBill> {
  const path = '/v1/receipt/metering';
  const { evidence } = params;
  const bill = billOf(params);
  const reply = isShort(evidence)
    ? await transport.post(path, { ...bill, evidence }, call)
    : await transport.upload(path, ndjsonUpload(bill, evidence), call);
  return { ...issuedIn<MeteringReceipt>(reply), evidence: evidenceCountsIn(reply.headers) };
}

/** Returns whether the evidence is a short array of leaves only: receipts are too large for one document. */
function isShort(evidence: Lines<EvidenceItem>): boolean {
  return (
    Array.isArray(evidence) &&
    evidence.length <= MOST_IN_JSON &&
    evidence.every((item: object) => !('receipt' in item) && !('anchor' in item))
  );
}

function billOf(params: MeterParams): JsonObject {
  const { rate, settlementBinding: binding } = params;
  const bill = {
    machine_commitment: params.machineCommitment,
    customer_commitment: params.customerCommitment,
    salt_commitment: params.saltCommitment,
    window_start: timestamp(params.windowStart),
    window_end: timestamp(params.windowEnd),
    compiled_at: params.compiledAt && timestamp(params.compiledAt),
    service_unit: params.serviceUnit,
    billed_unit_count: params.billedUnitCount,
    rate: {
      unit_rate_minor: rate.unitRateMinor,
      currency: rate.currency,
      rate_commitment: rate.rateCommitment,
    },
    settlement_binding: binding && {
      settlement_class: binding.settlementClass,
      settlement_commitment: binding.settlementCommitment,
    },
    evidence_policy: params.evidencePolicy,
    anchor: params.anchor,
  };
  return copyJson(defined(bill)) as JsonObject;
}

function timestamp(time: string | Date): string {
  return typeof time === 'string' ? time : formatTimestamp(time.getTime());
}
