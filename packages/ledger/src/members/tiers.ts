/** The share of the savings, in percent, by member tier (specification 2.11 and 3.2). */
export const SPREAD_PERCENT = {
  unregistered: 25,
  member: 35,
  member_enterprise: 40,
  member_scale: 50,
} as const;

export type MemberTier = keyof typeof SPREAD_PERCENT;

/** Number of jobs from which a member has a tier. */
const ENTERPRISE_JOBS = 100;
const SCALE_JOBS = 10_000;

/**
 * The tier of a member, by its completed jobs; `unregistered` for null. The job that reaches a tier does not count in
 * it yet.
 */
export function tierOf(member: { readonly jobs: number } | null): MemberTier {
  if (member === null) return 'unregistered';
  if (member.jobs >= SCALE_JOBS) return 'member_scale';
  return member.jobs >= ENTERPRISE_JOBS ? 'member_enterprise' : 'member';
}

/** Number of jobs until the next tier; null in the last tier. */
export function jobsToNextTier(jobs: number): number | null {
  if (jobs >= SCALE_JOBS) return null;
  return (jobs >= ENTERPRISE_JOBS ? SCALE_JOBS : ENTERPRISE_JOBS) - jobs;
}
