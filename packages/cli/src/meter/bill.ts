import { type CommitmentLabel, commit, type JsonObject, saltCommitment } from '@tallystick/core';
import { UsageError } from '../output.ts';
import type { BillSecrets, Committed } from './salt-file.ts';

/** Options that describe a bill. */
export interface BillOptions {
  readonly machine: string;
  readonly customer: string;
  readonly rateReference: string;
  readonly unit: string;
  readonly from: string;
  readonly to: string;
  readonly compiledAt?: string;
  readonly billed: number;
  readonly unitRateMinor: number;
  readonly currency: string;
  readonly settlementClass?: string;
  readonly settlement?: string;
}

/** The committed values of a bill, and its unit and window: a salt belongs to one such bill. @throws UsageError */
export function billFacts(options: BillOptions): Omit<BillSecrets, 'salt'> {
  return {
    values: {
      machine: options.machine,
      customer: options.customer,
      rate: options.rateReference,
      ...settlementValue(options),
    },
    bill: { service_unit: options.unit, window_start: options.from, window_end: options.to },
  };
}

function settlementValue({ settlementClass, settlement }: BillOptions): Committed {
  if (settlementClass === undefined) {
    if (settlement === undefined) return {};
    throw new UsageError('Say with --settlement-class what --settlement refers to.');
  }
  if ((settlementClass === 'none') !== (settlement === undefined)) {
    throw new UsageError(
      settlementClass === 'none'
        ? 'A settlement of class none has no reference: leave --settlement out.'
        : `Give the reference of the ${settlementClass} with --settlement.`,
    );
  }
  return { settlement: settlement ?? '' };
}

/** The bill as it is signed or sent: with commitments in place of the values. */
export function billOf(options: BillOptions, { salt, values }: BillSecrets): JsonObject {
  const commitment = (label: CommitmentLabel): string => commit(salt, label, values[label] ?? '');
  const { settlementClass, compiledAt } = options;
  return {
    machine_commitment: commitment('machine'),
    customer_commitment: commitment('customer'),
    salt_commitment: saltCommitment(salt),
    window_start: options.from,
    window_end: options.to,
    ...(compiledAt === undefined ? {} : { compiled_at: compiledAt }),
    service_unit: options.unit,
    billed_unit_count: options.billed,
    rate: {
      unit_rate_minor: options.unitRateMinor,
      currency: options.currency,
      rate_commitment: commitment('rate'),
    },
    ...(settlementClass === undefined
      ? {}
      : {
          settlement_binding: {
            settlement_class: settlementClass,
            settlement_commitment: commitment('settlement'),
          },
        }),
  };
}
