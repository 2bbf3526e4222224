import { pq } from './pq.ts';
import type { ReceiptProfile, ReceiptTerms } from './profile.ts';
import { type Profile, profiles } from './registry.ts';
import { standard } from './standard.ts';

export const PROFILES: readonly Profile[] = profiles.map(({ name }) => name);

/** The profile of a request that names none. */
export const DEFAULT_PROFILE = standard.name;

/** How metering receipts are kept and priced: as pq, though they are no profile. */
export const METERING_TERMS = {
  name: 'metering',
  retentionDays: pq.retentionDays,
  priceUsd: pq.priceUsd,
  bare: true,
} as const satisfies ReceiptTerms;

/** The name under which a receipt is kept: its profile, or `metering`. An envelope is kept as its profile. */
export type KeptAs = Profile | typeof METERING_TERMS.name;

/** How receipts of each profile, and metering receipts, are kept and priced. */
export const KEPT: readonly ReceiptTerms<KeptAs>[] = [...profiles, METERING_TERMS];

/** How receipts are kept and priced. @throws for a name that nothing is kept under */
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
