/** Whom a share of the savings goes to, from the least (specification 2.11 and 3.2). */
export const SPREAD_PERCENT = {
  unregistered: 25,
  member: 35,
  member_enterprise: 40,
  member_scale: 50,
} as const;

export type MemberTier = keyof typeof SPREAD_PERCENT;

/** Jobs from which on a member has a tier. */
const ENTERPRISE_JOBS = 100;
const SCALE_JOBS = 10_000;

/** The tier of a member, by its completed jobs; of nobody, `unregistered`. The job that reaches a tier is not yet in it. */
export function tierOf(member: { readonly jobs: number } | null): MemberTier {
  if (member === null) return 'unregistered';
  if (member.jobs >= SCALE_JOBS) return 'member_scale';
  return member.jobs >= ENTERPRISE_JOBS ? 'member_enterprise' : 'member';
}

/** How many more jobs lead to the next tier, or null in the last. */
export function jobsToNextTier(jobs: number): number | null {
  if (jobs >= SCALE_JOBS) return null;
  return (jobs >= ENTERPRISE_JOBS ? SCALE_JOBS : ENTERPRISE_JOBS) - jobs;
}
