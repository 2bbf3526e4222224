import type { Dust, NanoUsdc, Settlement } from '@tallystick/ledger';
import type { Books } from './ledger-books.ts';
import type { Reservation } from './ledger-tables.ts';

/** Money of a slice that a call holds. */
export interface SliceHold {
  /** Id of the slice's reservation. */
  readonly slice: string;
  readonly amount: NanoUsdc;
  readonly dust: Dust;
}

/** A slice after a settlement, and what its account could spend besides; null where that was not read. */
export interface SliceState {
  readonly amount: NanoUsdc;
  readonly available: NanoUsdc | null;
  readonly isOpen: boolean;
}

export interface HeldSettlement {
  readonly settlement: Settlement;
  readonly hold: SliceHold;
}

/** A slice is one in so many parts of what its account could spend when it was taken. */
const PARTS = 16n;

/** The amount of a slice for an account that has `available`; null where a call of `amount` is too large for one. */
export function sliceOf(available: NanoUsdc, amount: NanoUsdc): NanoUsdc | null {
  const share = available / PARTS;
  return share >= amount ? share : null;
}

/** The slices that one round of writes touches. From the lock of reservations on, nobody else writes them. */
export class RoundSlices {
  readonly #rows = new Map<string, { -readonly [Key in keyof Reservation]: Reservation[Key] }>();
  readonly #covered: HeldSettlement[] = [];
  /** What each slice can lose by the settlements that it covers. */
  readonly #ending = new Map<string, { amount: NanoUsdc; dust: Dust }>();
  readonly #changed = new Set<string>();

  /** Returns, for each of the settlements that its slice covers, a reservation of what the call holds. */
  cover(settlements: readonly HeldSettlement[], held: ReadonlyMap<string, Reservation>): Reservation[] {
    return settlements.flatMap((one) => {
      const { slice, amount, dust } = one.hold;
      const row = held.get(slice);
      if (row === undefined) return [];
      const before = this.#ending.get(slice) ?? { amount: 0n, dust: 0n };
      const ending = { amount: before.amount + amount, dust: before.dust + dust };
      if (ending.amount > row.amount || ending.dust > row.dust) return [];
      this.#ending.set(slice, ending);
      this.#rows.set(slice, { ...row });
      this.#covered.push(one);
      return [{ ...row, id: one.settlement.reservationId ?? one.settlement.id, amount, dust }];
    });
  }

  /** Ends slices but for what calls still hold of them. */
  shrink(
    slices: readonly { readonly id: string; readonly to: NanoUsdc }[],
    held: ReadonlyMap<string, Reservation>,
    books: Books,
  ): void {
    for (const { id, to } of slices) {
      const row = this.#rows.get(id) ?? held.get(id);
      if (row === undefined) continue;
      const ending = { ...row, slice: 'ending' as const };
      this.#lower(ending, row.amount > to ? row.amount - to : 0n, books);
    }
  }

  /**
   * Ends what settled calls held. A charge is taken out of what the account could spend besides; only where that is short, the
   * slice shrinks. To be called when the entries are posted.
   */
  settle(settled: ReadonlySet<string>, books: Books): void {
    const ended = new Map<string, NanoUsdc>();
    for (const { settlement, hold } of this.#covered) {
      const row = this.#rows.get(hold.slice);
      if (row === undefined || !settled.has(settlement.id)) continue;
      if (settlement.dust !== hold.dust) this.#changed.add(row.id);
      row.dust += settlement.dust - hold.dust;

      ended.set(row.id, (ended.get(row.id) ?? 0n) + hold.amount);
    }
    for (const [id, most] of ended) {
      const row = this.#rows.get(id);
      const short = row === undefined || !books.has(row.account) ? 0n : -books.available(row.account);
      if (row !== undefined && short > 0n) this.#lower(row, short < most ? short : most, books);
    }
  }

  changed(): Reservation[] {
    return [...this.#changed].flatMap((id) => this.#rows.get(id) ?? []);
  }

  stateOf(slice: string, books: Books): SliceState | null {
    const row = this.#rows.get(slice);
    if (row === undefined) return null;
    return {
      amount: row.amount,
      isOpen: row.slice === 'open',
      available: books.has(row.account) ? books.available(row.account) : null,
    };
  }

  #lower(row: { -readonly [Key in keyof Reservation]: Reservation[Key] }, by: NanoUsdc, books: Books): void {
    row.amount -= by;
    books.unreserve(row.account, by, 0n);
    this.#rows.set(row.id, row);
    this.#changed.add(row.id);
  }
}
