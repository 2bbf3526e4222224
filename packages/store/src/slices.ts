import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { runEvery } from '@tallystick/kit';
import type { Dust, NanoUsdc, ReserveOutcome, ReserveRequest } from '@tallystick/ledger';
import { isCallerAccount } from './caller-account.ts';
import type { Reserved, SettledHold } from './ledger-commit.ts';
import type { SliceHold } from './ledger-slices.ts';
import type { Reservation } from './ledger-tables.ts';
import type { OwnLeases } from './own-leases.ts';

/** A slice that nothing holds ends after so many milliseconds, and an account whose last call ended before has none made. */
const IDLE_MS = 1_000;
const SWEEP_MS = 500;
/** For so many milliseconds no slice is taken of an account that was short of the money of one. */
const REST_MS = 10_000;

/** Seconds for which a slice may be used for new calls. */
const SLICE_SECONDS = 3_600;

/** A slice ends where its account can spend less than so many times its amount besides. */
const LEAST_PARTS = 8n;

/** What a {@link Slices} asks of the database. */
export interface SliceWrites {
  release(id: string): Promise<unknown>;
  shrink(id: string, to: NanoUsdc): Promise<unknown>;
  /** What an account can spend besides what is reserved. */
  available(account: string): Promise<NanoUsdc>;
  /** Asks all processes to give back their slices of an account. Resolves to false where there are none. */
  recall(account: string): Promise<boolean>;
  /** Ids of those slices of a process that were recalled. */
  recalledFrom(process: string): Promise<ReadonlySet<string>>;
}

/** Milliseconds for which money that is short is waited for while other processes have not given back their slices. */
const OTHERS_MS = 6 * SWEEP_MS;
const ASK_MS = SWEEP_MS / 2;

/** What may be refused because an account has too little. */
type Outcome = string | { readonly kind: string; readonly available?: NanoUsdc | null };

/** Part of an account's balance: one reservation in the database, which this process gives to calls out of memory. */
interface Slice {
  readonly id: string;
  readonly account: string;
  readonly process: string;
  /** See `OwnLeases`. */
  readonly term: number;
  readonly expiresAt: number;
  amount: NanoUsdc;
  /** Dust that no call holds. */
  dust: Dust;
  /** What calls hold. */
  held: NanoUsdc;
  calls: number;
  /** What the account could spend besides when this process wrote to it last. */
  available: NanoUsdc;
  usedAt: number;
}

interface Hold extends SliceHold {
  readonly of: Slice;
  readonly expiresAt: number;
  readonly spenders: readonly string[];
}

/**
 * The slices of accounts that this process holds. A call that fits into one is reserved without the database. What calls
 * hold of a slice never exceeds its amount; the database checks it again when they are settled.
 */
export class Slices {
  readonly #leases: OwnLeases;
  readonly #writes: SliceWrites;
  /** By account: those that give to new calls. */
  readonly #open = new Map<string, Slice>();
  /** Those that end with the calls that hold something of them. */
  readonly #ending = new Set<Slice>();
  readonly #holds = new Map<string, Hold>();
  /** When a call of an account was made or ended last. */
  readonly #active = new Map<string, number>();
  /** Until when no slice is taken of an account. */
  readonly #resting = new Map<string, number>();
  /** Accounts of which a slice is being taken. */
  readonly #taking = new Set<string>();
  #stop: (() => Promise<void>) | undefined;
  #closed = false;

  constructor(leases: OwnLeases, writes: SliceWrites) {
    this.#leases = leases;
    this.#writes = writes;
  }

  /** Reserves out of a slice; null where that is not possible. */
  hold({ id, account, amount, expiresAt, process, spending }: ReserveRequest): ReserveOutcome | null {
    const before = this.#holds.get(id);
    if (before !== undefined) return { kind: 'reserved', dust: before.dust, available: null, windows: [] };
    const slice = this.#open.get(account);
    if (slice === undefined || amount === 0n || (spending?.limits.length ?? 0) > 0) return null;
    if (process !== slice.process || expiresAt > slice.expiresAt || !this.#isLive(slice)) {
      void this.#end(slice);
      return null;
    }
    if (slice.held + amount > slice.amount) {
      // Where no call holds the dust, the reservation takes it, in the same transaction.
      if (slice.calls === 0) void this.#end(slice);
      return null;
    }
    const { dust } = slice;
    this.#keep(id, {
      of: slice,
      slice: slice.id,
      amount,
      dust,
      expiresAt,
      spenders: spending?.spenders ?? [],
    });
    return {
      kind: 'reserved',
      dust,
      available: slice.available + slice.amount - slice.held,
      windows: [],
    };
  }

  /** The slice that a reservation may become; undefined where it must not. `taken` has to be called afterwards. */
  wanted({
    account,
    amount,
    expiresAt,
    process = null,
    spending,
  }: ReserveRequest): Pick<Reservation, 'id' | 'expiresAt'> | undefined {
    if (process === null || this.#closed || this.#leases.termOf(process) === null) return undefined;
    if (!isCallerAccount(account) || amount === 0n || (spending?.limits.length ?? 0) > 0) return undefined;
    const isActive = performance.now() - (this.#active.get(account) ?? Number.NEGATIVE_INFINITY) < IDLE_MS;
    this.#touch(account);
    if (!isActive || this.#resting.has(account)) return undefined;
    if (this.#open.has(account) || this.#taking.has(account)) return undefined;
    this.#taking.add(account);
    return { id: `slice ${randomUUID()}`, expiresAt: expiresAt + SLICE_SECONDS };
  }

  /** Told what became of a reservation with a `wanted` slice; undefined if nobody knows, and then there shall be none. */
  taken(
    request: ReserveRequest,
    { id, expiresAt }: Pick<Reservation, 'id' | 'expiresAt'>,
    outcome: Reserved | undefined,
  ): void {
    const { account, amount, process } = request;
    this.#taking.delete(account);
    if (outcome !== undefined && (outcome.kind !== 'reserved' || outcome.slice === undefined)) return;
    const slice: Slice = {
      id,
      account,
      process: process ?? '',
      term: this.#leases.termOf(process ?? '') ?? -1,
      expiresAt,
      amount: outcome?.slice ?? 0n,
      dust: outcome?.dust ?? 0n,
      held: 0n,
      calls: 0,
      available: outcome?.available ?? 0n,
      usedAt: performance.now(),
    };
    if (outcome === undefined) {
      void this.#end(slice);
      return;
    }
    this.#open.set(account, slice);
    const spenders = request.spending?.spenders ?? [];
    const { expiresAt: until } = request;
    this.#keep(request.id, { of: slice, slice: id, amount, dust: slice.dust, expiresAt: until, spenders });
    if (this.#closed || !this.#isLive(slice)) void this.#end(slice);
  }

  /** What a call holds of a slice; undefined where it holds nothing, as it has a reservation of its own. */
  holdOf(id: string | null): SliceHold | undefined {
    return id === null ? undefined : this.#holds.get(id);
  }

  /** Told how the settlement of a hold has ended. @param dust the dust that it leaves */
  settled(id: string, { outcome, slice: state }: SettledHold, dust: Dust): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    const slice = hold.of;
    if (state !== null) slice.amount = state.amount;
    if (outcome === 'settled') slice.dust += dust;
    this.#drop(id, hold);
    slice.available = state?.available ?? slice.available;
    // Whatever else came of the settlement, it is not known here what the slice holds in the database.
    if (outcome !== 'settled' || state?.isOpen !== true || slice.available < slice.amount * LEAST_PARTS)
      void this.#end(slice);
    if (state?.isOpen === false) this.#rest(slice.account);
  }

  /** Told that nobody knows how a settlement has ended. The hold stays until it expires, in case it is settled again. */
  doubt(id: string): void {
    const hold = this.#holds.get(id);
    if (hold !== undefined) void this.#end(hold.of);
  }

  /** Ends a hold without a debit. Returns false where there is none. */
  release(id: string): boolean {
    const hold = this.#holds.get(id);
    if (hold === undefined) return false;
    hold.of.dust += hold.dust;
    this.#drop(id, hold);
    return true;
  }

  /** Forgets the holds that have expired at `now`, in unix seconds. */
  expire(now: number): void {
    for (const [id, hold] of this.#holds) if (hold.expiresAt <= now) this.#drop(id, hold);
  }

  /** What this process holds of an account, or of all, beside its calls. */
  spare(account?: string): { readonly amount: NanoUsdc; readonly dust: Dust } {
    let [amount, dust] = [0n, 0n];
    for (const slice of [...this.#open.values(), ...this.#ending]) {
      if (account !== undefined && account !== slice.account) continue;
      amount += slice.amount - slice.held;
      dust += slice.dust;
    }
    return { amount, dust };
  }

  /** What calls hold in whose spending a spender's budget counts. */
  heldFor(spender: string): NanoUsdc {
    let sum = 0n;
    for (const { spenders, amount } of this.#holds.values()) if (spenders.includes(spender)) sum += amount;
    return sum;
  }

  /**
   * Tries something that takes money from accounts. Where money is short, slices are given back: this process's at once,
   * and other processes' when they have seen that little is left beside them.
   */
  async tryWith<T extends Outcome>(accounts: readonly string[], attempt: () => Promise<T>): Promise<T> {
    let outcome = await attempt();
    if (!isShort(outcome)) return outcome;
    const own = accounts.flatMap((account) => this.#open.get(account) ?? []);
    for (const account of accounts) this.#rest(account);
    await Promise.all(own.map((slice) => this.#end(slice)));
    if (own.length > 0) outcome = await attempt();
    for (const until = performance.now() + OTHERS_MS; isShort(outcome) && performance.now() < until; ) {
      if (!(await this.#mayGrow(accounts, outcome.available))) return outcome;
      await setTimeout(ASK_MS);
      outcome = await attempt();
    }
    return outcome;
  }

  /** Gives all slices back, but what calls still hold. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop?.();
    await Promise.all([...this.#open.values()].map((slice) => this.#end(slice)));
  }

  /** Whether processes have slices of accounts, which are recalled, or one of these has more by now than `available`. */
  async #mayGrow(accounts: readonly string[], available: NanoUsdc): Promise<boolean> {
    for (const account of accounts.filter(isCallerAccount)) {
      if (await this.#writes.recall(account)) return true;
      if ((await this.#writes.available(account)) > available) return true;
    }
    return false;
  }

  #isLive(slice: Slice): boolean {
    return this.#leases.termOf(slice.process) === slice.term;
  }

  #keep(id: string, hold: Hold): void {
    const slice = hold.of;
    this.#holds.set(id, hold);
    slice.held += hold.amount;
    slice.calls += 1;
    slice.dust -= hold.dust;
    slice.usedAt = performance.now();
  }

  #drop(id: string, { of: slice, amount }: Hold): void {
    this.#holds.delete(id);
    slice.held -= amount;
    slice.calls -= 1;
    slice.usedAt = performance.now();
    this.#touch(slice.account);
    if (this.#ending.has(slice)) void this.#lower(slice);
  }

  /** Gives nothing more to new calls, and gives back what no call holds. */
  async #end(slice: Slice): Promise<void> {
    if (this.#open.get(slice.account) === slice) this.#open.delete(slice.account);
    this.#ending.add(slice);
    await this.#lower(slice);
  }

  /** Lowers the reservation in the database to what calls hold. What fails is tried again with the next sweep. */
  async #lower(slice: Slice): Promise<void> {
    try {
      if (slice.calls > 0) {
        const { held } = slice;
        await this.#writes.shrink(slice.id, held);
        if (held < slice.amount) slice.amount = held;
      } else {
        await this.#writes.release(slice.id);
        this.#ending.delete(slice);
      }
    } catch {}
  }

  #rest(account: string): void {
    this.#resting.set(account, performance.now() + REST_MS);
  }

  #touch(account: string): void {
    this.#active.set(account, performance.now());
    if (!this.#closed) this.#stop ??= runEvery(SWEEP_MS, () => this.#sweep());
  }

  /** Ends what is idle, and what others ask for. */
  async #sweep(): Promise<void> {
    const longAgo = performance.now() - IDLE_MS;
    for (const [account, at] of this.#active) if (at < longAgo) this.#active.delete(account);
    for (const [account, until] of this.#resting)
      if (until < performance.now()) this.#resting.delete(account);
    const open = [...this.#open.values()];
    const processes = [...new Set(open.map(({ process }) => process))];
    const recalled = await Promise.all(
      processes.map((process) => this.#writes.recalledFrom(process).catch(() => new Set<string>())),
    );
    const isRecalled = ({ id }: Slice): boolean => recalled.some((ids) => ids.has(id));
    for (const { account } of open.filter(isRecalled)) this.#rest(account);
    const isOver = (slice: Slice): boolean =>
      (slice.calls === 0 && slice.usedAt < longAgo) || isRecalled(slice);
    const ending = [...this.#ending].filter(({ calls }) => calls === 0);
    await Promise.all([...open.filter(isOver), ...ending].map((slice) => this.#end(slice)));
  }
}

function isShort(outcome: Outcome): outcome is { kind: string; available: NanoUsdc } {
  return typeof outcome !== 'string' && outcome.kind === 'insufficient';
}
