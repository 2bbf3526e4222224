import {
  type NanoUsdc,
  type ReserveRequest,
  type SpenderLimits,
  type Spending,
  type SpendingWindow,
  spendingPeriods,
} from '@tallystick/ledger';
import { type Counters, lockUsed, saveUsed, type Use } from './counters.ts';
import { all, type Work } from './database-work.ts';
import type { Reservation } from './ledger-tables.ts';
import type { Queries } from './queries.ts';

type Kind = SpendingWindow['kind'];

interface Spent {
  used: bigint;
  reserved: bigint;
}

/**
 * The limits of a batch of reservations. From `lock` on no other transaction reserves for the same limited spenders, so
 * what is read and counted here holds until the commit.
 */
export class BatchLimits {
  readonly #begun: readonly Spending[];
  readonly #uses: readonly Use[];
  #before: ReadonlyMap<string, number> = new Map();
  #counts = new Map<string, number>();
  readonly #spent = new Map<string, Spent>();

  constructor(begun: readonly ReserveRequest[], ended: readonly Reservation[]) {
    this.#begun = begun.flatMap(({ spending }) =>
      spending !== undefined && spending.limits.length > 0 ? spending : [],
    );
    this.#uses = [...this.#begun.flatMap(countersOf), ...ended.flatMap(tokenCountersOf)];
  }

  *lock(counters: Counters): Work<void> {
    if (this.#uses.length === 0) return;
    this.#before = yield* lockUsed(counters, this.#uses);
    this.#counts = new Map(this.#before);
  }

  /** Gives back the tokens that a call has reserved and not used. */
  giveBack(reservation: Reservation, usedTokens: number): void {
    const unused = Math.max(0, reservation.tokens - usedTokens);
    for (const { counter } of tokenCountersOf(reservation)) {
      const counted = this.#counts.get(counter);
      if (counted !== undefined) this.#counts.set(counter, Math.max(0, counted - unused));
    }
  }

  /**
   * Reads what the spenders have spent and reserved. To be called when the ends of other reservations are written.
   * @param heldFor what calls hold of slices in whose spending a spender counts
   */
  *read({ spentAndReserved }: Queries, heldFor: (spender: string) => NanoUsdc): Work<void> {
    for (const { at, limits } of this.#begun) {
      const { day, firstOfMonth } = spendingPeriods(at);
      for (const { spender, ...limit } of limits) {
        if ((limit.day ?? limit.month) === null || this.#spent.has(nameOf('month', spender))) continue;
        const [row] = yield* all(spentAndReserved, { spender, day, firstOfMonth });
        const reserved = BigInt(row?.reserved ?? 0) + heldFor(spender);
        for (const kind of MONEY)
          this.#spent.set(nameOf(kind, spender), { used: BigInt(row?.[kind] ?? 0) + reserved, reserved });
      }
    }
  }

  /** The limits of a call as they are before it, and which of them it would pass; null if none. */
  check({ amount, spending }: ReserveRequest): {
    readonly windows: readonly SpendingWindow[];
    readonly by: SpendingWindow | null;
  } {
    const windows = this.windowsOf(spending);
    const adds = { day: amount, month: amount, requests: 1n, tokens: BigInt(spending?.tokens ?? 0) };
    const passed = windows.filter(({ kind, used, limit }) => used + adds[kind] > limit);
    const by = passed.reduce<SpendingWindow | null>(
      (last, one) => (last === null || one.resetAt > last.resetAt ? one : last),
      null,
    );
    return { windows, by };
  }

  /** Counts a call whose money is reserved. */
  count({ amount, spending }: ReserveRequest): void {
    if (spending === undefined) return;
    for (const { spender, requestsPerMinute, tokensPerMinute } of spending.limits) {
      if (requestsPerMinute !== null) this.#add(nameOf('requests', spender, spending.at), 1);
      if (tokensPerMinute !== null) this.#add(nameOf('tokens', spender, spending.at), spending.tokens);
    }
    for (const spender of spending.spenders) {
      for (const spent of MONEY.flatMap((kind) => this.#spent.get(nameOf(kind, spender)) ?? [])) {
        spent.used += amount;
        spent.reserved += amount;
      }
    }
  }

  windowsOf(spending: Spending | undefined): SpendingWindow[] {
    if (spending === undefined) return [];
    const { endOf } = spendingPeriods(spending.at);
    return spending.limits.flatMap((limits) => {
      const { spender } = limits;
      return Object.entries(ofEachKind(limits)).flatMap(([name, limit]): SpendingWindow[] => {
        if (limit === null) return [];
        const kind = name as Kind;
        const counted = this.#counts.get(nameOf(kind, spender, spending.at)) ?? 0;
        const spent = this.#spent.get(nameOf(kind, spender)) ?? { used: BigInt(counted), reserved: 0n };
        return [{ spender, kind, limit, ...spent, resetAt: endOf[kind] }];
      });
    });
  }

  *save(counters: Counters): Work<void> {
    if (this.#uses.length > 0) yield* saveUsed(counters, this.#uses, this.#before, this.#counts);
  }

  #add(counter: string, more: number): void {
    this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + more);
  }
}

const MONEY = ['day', 'month'] as const satisfies readonly Kind[];
const MINUTE = 60;

function ofEachKind(limits: SpenderLimits): Record<Kind, bigint | null> {
  const { day, month, requestsPerMinute, tokensPerMinute } = limits;
  const whole = (limit: number | null): bigint | null => (limit === null ? null : BigInt(limit));
  return { day, month, requests: whole(requestsPerMinute), tokens: whole(tokensPerMinute) };
}

/** Name of a counter, with the minute of `at` in it; of money without, as it is counted in other tables. */
function nameOf(kind: Kind | 'budget', spender: string, at?: number): string {
  return at === undefined ? `${kind}:${spender}` : `${kind}:${Math.floor(at / MINUTE)}:${spender}`;
}

/** The counters that a call with limits needs. That of the budget counts nothing: whoever holds it may reserve. */
function countersOf({ at, limits }: Spending): Use[] {
  const { endOf } = spendingPeriods(at);
  return limits.flatMap(({ spender, day, month, requestsPerMinute, tokensPerMinute }) => [
    ...((day ?? month) === null ? [] : [{ counter: nameOf('budget', spender), expiresAt: endOf.month }]),
    ...(requestsPerMinute === null
      ? []
      : [{ counter: nameOf('requests', spender, at), expiresAt: endOf.requests }]),
    ...(tokensPerMinute === null
      ? []
      : [{ counter: nameOf('tokens', spender, at), expiresAt: endOf.tokens }]),
  ]);
}

function tokenCountersOf({ spender, owner, tokens, minute }: Reservation): Use[] {
  if (tokens === 0) return [];
  const at = minute * MINUTE;
  return [spender, owner].flatMap((one) =>
    one === null ? [] : { counter: nameOf('tokens', one, at), expiresAt: at + MINUTE },
  );
}
