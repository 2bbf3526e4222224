/** Whose spending a call counts in, and what limits that. */
export interface Spending {
  /** Unix seconds. Days, months and minutes are of UTC. */
  readonly at: number;
  /** Ids of API keys or DIDs: that of the caller, and that of the account's owner if it is another. */
  readonly spenders: readonly string[];
  /** The limits of those spenders that have any. */
  readonly limits: readonly SpenderLimits[];
  /** The most tokens that the call can use, for the limits of tokens. */
  readonly tokens: number;
}

/** Null where there is no such limit. Money is in nano-USDC. */
export interface SpenderLimits {
  readonly spender: string;
  readonly day: bigint | null;
  readonly month: bigint | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** One limit, and how much of it is used. */
export interface SpendingWindow {
  readonly spender: string;
  readonly kind: 'day' | 'month' | 'requests' | 'tokens';
  /** In nano-USDC of `day` and `month`. */
  readonly limit: bigint;
  /** What is spent or counted, with what calls under way have reserved. */
  readonly used: bigint;
  /** Of it, what calls under way have reserved; 0 of requests and tokens. */
  readonly reserved: bigint;
  /** Unix seconds at which the next window begins. */
  readonly resetAt: number;
}

const MINUTE = 60;
const DAY = 86_400;

/** The windows of time that hold at `at`, in unix seconds. Days are written `2026-03-01`. */
export function spendingPeriods(at: number): {
  readonly minute: number;
  readonly day: string;
  readonly firstOfMonth: string;
  readonly endOf: Readonly<Record<SpendingWindow['kind'], number>>;
} {
  const minute = Math.floor(at / MINUTE);
  const date = new Date(at * 1000);
  const day = date.toISOString().slice(0, 10);
  const endOfMinute = (minute + 1) * MINUTE;
  return {
    minute,
    day,
    firstOfMonth: `${day.slice(0, 7)}-01`,
    endOf: {
      requests: endOfMinute,
      tokens: endOfMinute,
      day: (Math.floor(at / DAY) + 1) * DAY,
      month: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000,
    },
  };
}
