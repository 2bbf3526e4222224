/** A member in `GET /v1/compute/member/leaderboard`. */
export interface Member {
  readonly rank: number;
  readonly did: string;
  readonly handle: string | null;
  readonly tier: string;
  readonly spread_pct: number;
  readonly jobs: number;
  readonly jobs_to_next_tier: number | null;
}

/** The members of `GET /v1/compute` that this page shows. */
export interface Descriptor {
  readonly routing_spread_pct: Readonly<Record<string, number>>;
  readonly member_registration: { readonly tiers_at_jobs: Readonly<Record<string, number>> };
}
