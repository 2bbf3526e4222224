import { pq } from './pq.ts';
import type { ReceiptProfile, ReceiptTerms } from './profile.ts';
import { type Profile, profiles } from './registry.ts';
import { standard } from './standard.ts';

export const PROFILES: readonly Profile[] = profiles.map(({ name }) => name);

/** The profile of a request that names none. */
export const DEFAULT_PROFILE = standard.name;

/** Retention and price of metering receipts: those of pq, though metering is no profile. */
export const METERING_TERMS = {
  name: 'metering',
  retentionDays: pq.retentionDays,
  priceUsd: pq.priceUsd,
  bare: true,
} as const satisfies ReceiptTerms;

/** Name under which retention and price of a receipt are found: its profile, or `metering`. An envelope has a profile. */
export type KeptAs = Profile | typeof METERING_TERMS.name;

/** Retention and price of each profile, and of metering receipts. */
export const KEPT: readonly ReceiptTerms<KeptAs>[] = [...profiles, METERING_TERMS];

/** Retention and price by name. @throws for an unknown name */
export function termsOf(name: KeptAs): ReceiptTerms<KeptAs> {
  return found(KEPT, name);
}

export function profileNamed(name: Profile): ReceiptProfile<Profile> {
  return found<ReceiptProfile<Profile>>(profiles, name);
}

function found<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const one = list.find((each) => each.name === name);
  if (one === undefined) throw new Error(`There is no profile ${name}.`);
  return one;
}
