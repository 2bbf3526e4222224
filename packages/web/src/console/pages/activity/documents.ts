/** A row of `GET /v1/compute/calls`. Money is decimal USDC, times are RFC 3339, lengths are milliseconds. */
export interface Call {
  readonly id: string;
  readonly at: string;
  readonly receipt_id: string | null;
  readonly model: string | null;
  readonly requested_model: string | null;
  readonly provider: string | null;
  readonly route_reason: string | null;
  readonly stream: boolean;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly cost_usdc: string | null;
  readonly saving_usdc: string | null;
  readonly first_byte_ms: number | null;
  readonly total_ms: number | null;
  readonly status: number;
  readonly error_code: string | null;
  readonly did: string | null;
  readonly key: string | null;
  readonly session: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** The answer of `GET /v1/compute/calls/counts`. */
export interface CountsAnswer {
  readonly data: readonly CallCounts[];
  /** The time from which on calls were counted; null where all were. */
  readonly counted_from: string | null;
}

export interface CallCounts {
  readonly at: string;
  readonly by: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly cost_usdc: string;
  readonly saving_usdc: string;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}
