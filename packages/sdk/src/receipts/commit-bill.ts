import { commit, newSalt, saltCommitment } from '@tallystick/core';
import type { SettlementClass } from './documents.ts';

export interface BillSecrets {
  /** Serial number of the machine. */
  readonly machine: string;
  /** The customer's account identifier. */
  readonly customer: string;
  /** Reference of the agreed rate: a contract or price list. */
  readonly rate: string;
  /** Reference of the settlement; leave `reference` out for class `none`. */
  readonly settlement?:
    | { readonly settlementClass: SettlementClass; readonly reference?: string | undefined }
    | undefined;
  /** Salt of 32 bytes; a fresh random one when absent. */
  readonly salt?: Uint8Array | undefined;
}

/** The commitments of one bill, 64 hex each and named as `meter` takes them, and the salt that opens them. */
export interface BillCommitments {
  /** Keep it, and keep it secret: without it no commitment can be opened, and with it all can. */
  readonly salt: Uint8Array;
  readonly saltCommitment: string;
  readonly machineCommitment: string;
  readonly customerCommitment: string;
  readonly rateCommitment: string;
  readonly settlementBinding:
    | { readonly settlementClass: SettlementClass; readonly settlementCommitment: string }
    | undefined;
}

/** Commits to the values that a metering receipt must hide (spec/metering.md). Sends nothing. @throws invalid_field */
export function commitBill({
  machine,
  customer,
  rate,
  settlement,
  salt = newSalt(),
}: BillSecrets): BillCommitments {
  return {
    salt,
    saltCommitment: saltCommitment(salt),
    machineCommitment: commit(salt, 'machine', machine),
    customerCommitment: commit(salt, 'customer', customer),
    rateCommitment: commit(salt, 'rate', rate),
    settlementBinding: settlement && {
      settlementClass: settlement.settlementClass,
      settlementCommitment: commit(salt, 'settlement', settlement.reference ?? ''),
    },
  };
}
