import { canonicalize, formatTimestamp, type JsonValue } from '@tallystick/core';
import { type Incoming, Refusal } from '@tallystick/kit';
import {
  formatUsdc,
  type Limited,
  type NanoUsdc,
  parseUsdc,
  type SpenderLimits,
  type Spending,
  type SpendingWindow,
} from '@tallystick/ledger';
import type { Spender } from './callers.ts';

/** Limits of an API key, or of all that a DID's account pays, as they are given and stored. Absent or null: no limit. */
export interface Limits {
  /** Decimal text in USDC: what calls may cost on a UTC day, and in a calendar month. */
  readonly day_usdc?: string | null | undefined;
  readonly month_usdc?: string | null | undefined;
  readonly requests_per_minute?: number | null | undefined;
  /** Of prompts and answers together. */
  readonly tokens_per_minute?: number | null | undefined;
  /** Ids of models, and names of providers: a call may use no others. */
  readonly models?: readonly string[] | null | undefined;
  readonly providers?: readonly string[] | null | undefined;
  /** Decimal text in USDC: for 1,000,000 tokens of the prompt and of the answer, and for a call as it is expected. */
  readonly max_price?:
    | {
        readonly prompt?: string | null | undefined;
        readonly completion?: string | null | undefined;
        readonly request?: string | null | undefined;
      }
    | null
    | undefined;
}

/** Reads stored limits. */
export function limitsFrom(text: string | null): Limits {
  return text === null ? {} : (JSON.parse(text) as Limits);
}

/** The limits as JSON text with those members replaced that are given (RFC 7396); null where none is left. */
export function mergedLimits(present: string | null, given: Limits | null): string | null {
  if (given === null) return null;
  const all = Object.entries({ ...limitsFrom(present), ...given });
  const set = all.filter(([, limit]) => limit !== null && limit !== undefined);
  return set.length === 0 ? null : canonicalize(Object.fromEntries(set) as JsonValue);
}

/** The codes with which a call is refused that would pass a limit. */
export const LIMIT_ERRORS = ['budget_exceeded', 'model_not_allowed', 'rate_limited'] as const;

/** The answer's headers about limits, for the reference. */
export const LIMIT_HEADERS = {
  RateLimit: 'What is left of the limits of requests and tokens a minute, where the caller has any.',
  'RateLimit-Policy': 'Those limits.',
  'X-Budget-Left':
    'What the tightest budget of the caller leaves in USDC, less what calls under way may cost; sent where the caller has one.',
} as const;

/**
 * What a call counts in, for the ledger; undefined for a stranger's.
 * @param now Unix milliseconds
 */
export function spendingOf(spenders: readonly Spender[], now: number): Omit<Spending, 'tokens'> | undefined {
  if (spenders.length === 0) return undefined;
  const at = Math.floor(now / 1000);
  return { at, spenders: spenders.map(({ id }) => id), limits: spenders.flatMap(countedLimits) };
}

/** The limits that are counted; none where those of the spender need no counting. */
function countedLimits({ id, limits }: Spender): SpenderLimits[] {
  if (limits === null) return [];
  const { day_usdc: day, month_usdc: month, ...rates } = limitsFrom(limits);
  const counted = {
    spender: id,
    day: moneyOf(day),
    month: moneyOf(month),
    requestsPerMinute: rates.requests_per_minute ?? null,
    tokensPerMinute: rates.tokens_per_minute ?? null,
  };
  const { spender: _, ...all } = counted;
  return Object.values(all).every((limit) => limit === null) ? [] : [counted];
}

function moneyOf(text: string | null | undefined): NanoUsdc | null {
  return text === null || text === undefined ? null : parseUsdc(text);
}

/** Tells the caller in the answer what its limits leave. @param now Unix milliseconds */
export function noteLimits(
  incoming: Pick<Incoming, 'note'>,
  windows: readonly SpendingWindow[],
  now: number,
): void {
  const rates = windows.filter(({ kind }) => !isMoney(kind));
  for (const window of tightest(rates)) {
    const { kind: name, limit, used, resetAt } = window;
    incoming.note({
      kind: 'rate_limit',
      window: { name, limit: Number(limit), seconds: 60, resetAt },
      used: Number(used),
      left: secondsUntil(resetAt, now),
    });
  }
  const left = windows.filter(({ kind }) => isMoney(kind)).map(leftOf);
  if (left.length === 0) return;
  const least = left.reduce((one, other) => (other < one ? other : one));
  incoming.note({ kind: 'budget_left', left: formatUsdc(least) });
}

/** One window of each kind: that which leaves least. */
function tightest(windows: readonly SpendingWindow[]): SpendingWindow[] {
  const found = new Map<SpendingWindow['kind'], SpendingWindow>();
  for (const window of windows) {
    const other = found.get(window.kind);
    if (other === undefined || leftOf(window) < leftOf(other)) found.set(window.kind, window);
  }
  return [...found.values()];
}

/**
 * The refusal of a call that would pass a limit, with `Retry-After` where waiting helps.
 * @param needed the most that the call can cost, and the most tokens that it can use; 0 where they were not counted
 * @param now Unix milliseconds
 */
export function limitRefusal(
  { by }: Limited,
  { amount, tokens }: { readonly amount: NanoUsdc; readonly tokens: number },
  now: number,
): Refusal {
  const { spender, kind, limit, used, reserved, resetAt } = by;
  const retryAfter = secondsUntil(resetAt, now);
  if (kind === 'tokens' && tokens > limit) {
    return new Refusal(
      'rate_limited',
      `${spender} may use ${limit} tokens a minute, and the call can use up to ${tokens}, so that no wait helps. Shorten the prompt, or allow fewer output tokens.`,
      {},
    );
  }
  if (!isMoney(kind)) {
    return new Refusal(
      'rate_limited',
      `${spender} may use ${limit} ${kind} a minute, and ${leftOf(by)} are left. Try again in ${retryAfter} s.`,
      { retryAfter },
    );
  }
  const budget = `The budget of ${spender} is ${formatUsdc(limit)} USDC a ${kind} (UTC); ${formatUsdc(used - reserved)} are spent`;
  const cost = `the call can cost up to ${formatUsdc(amount)}`;
  return isUsedUp(by, amount)
    ? new Refusal(
        'budget_exceeded',
        `${budget}, and ${cost}. Allow fewer output tokens, or wait until ${formatTimestamp(resetAt * 1000)}.`,
        { retryAfter },
      )
    : new Refusal(
        'budget_exceeded',
        `${budget}, ${formatUsdc(reserved)} reserved for calls under way, and ${cost}. Try again when those have ended.`,
        { retryAfter: 1 },
      );
}

/**
 * Whether a budget has too little left for an amount even after the calls under way have ended, whose reservations are free
 * again then.
 */
export function isUsedUp({ kind, limit, used, reserved }: SpendingWindow, amount: NanoUsdc): boolean {
  return isMoney(kind) && used - reserved + amount > limit;
}

/** What a budget leaves for one more call; 0 where it is passed, as after it was lowered. */
export function leftOf({ limit, used }: SpendingWindow): bigint {
  return used > limit ? 0n : limit - used;
}

function isMoney(kind: SpendingWindow['kind']): kind is 'day' | 'month' {
  return kind === 'day' || kind === 'month';
}

function secondsUntil(resetAt: number, now: number): number {
  return Math.max(1, Math.ceil(resetAt - now / 1000));
}
