/** A tag of a call, as `name:value`. */
export interface CallTag {
  readonly owner: string;
  readonly tag: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** Sums of the calls of one owner that began in one span of time and share the members up to `band`. */
export interface CallCount {
  readonly owner: string;
  /** Length of the span in seconds. */
  readonly span: number;
  /** Unix seconds at which the span begins. */
  readonly at: number;
  /** Empty, as the next ones are, where the call has none. */
  readonly model: string;
  readonly provider: string;
  readonly status: number;
  readonly key: string;
  /** Band of the latency, see `bandOf`. */
  readonly band: number;
  readonly calls: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: bigint;
  readonly saving: bigint;
}
