/** The limits of a key. Money is decimal USDC. A member that is absent or null is no limit. */
export interface Limits {
  readonly day_usdc?: string | null;
  readonly month_usdc?: string | null;
  readonly requests_per_minute?: number | null;
  readonly tokens_per_minute?: number | null;
  readonly models?: readonly string[] | null;
  readonly providers?: readonly string[] | null;
  readonly max_price?: {
    readonly prompt?: string | null;
    readonly completion?: string | null;
    readonly request?: string | null;
  } | null;
}

/** A row of `GET /v1/keys`. Times are RFC 3339. */
export interface ApiKey {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly manages: boolean;
  /** Whether prompt and answer of its calls are kept where the operator allows it. */
  readonly keep: boolean;
  readonly limits: Limits;
  readonly spent: { readonly day_usdc: string; readonly month_usdc: string };
}

/** A key that was just made, or has a new secret. */
export interface NewKey extends ApiKey {
  readonly key: string;
}

/** A model of `GET /v1/compute/models`, as far as it is read here. */
export interface Model {
  readonly id: string;
  /** Its provider. */
  readonly owned_by: string;
}
