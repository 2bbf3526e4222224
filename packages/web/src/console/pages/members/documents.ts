/** A member, as all answers about members have it. */
export interface Member {
  readonly did: string;
  readonly handle: string | null;
  readonly registered_at: string;
  readonly tier: string;
  /** Its share of what compression saves, in per cent. */
  readonly spread_pct: number;
  /** Completed, paid calls since it registered. */
  readonly jobs: number;
  /** Null in the highest tier. */
  readonly jobs_to_next_tier: number | null;
}

/** A member of `GET /v1/compute/member/leaderboard`. */
export interface RankedMember extends Member {
  readonly rank: number;
}

/** The members of `GET /v1/compute` that are read here. */
export interface Descriptor {
  readonly routing_spread_pct: Readonly<Record<string, number>>;
  readonly member_registration: { readonly tiers_at_jobs: Readonly<Record<string, number>> };
}

/** The answer of `GET /v1/compute/compression/stats`, as far as it is read here. */
export interface CompressionStats {
  readonly service: {
    readonly calls: number;
    readonly tokens_before: number;
    readonly saved_tokens: number;
    readonly saving: { readonly usdc: string };
    readonly share: { readonly usdc: string };
    readonly methods: Readonly<Record<string, { readonly calls: number; readonly tokens: number }>>;
  };
}
