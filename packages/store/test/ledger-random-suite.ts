import { afterEach, describe, expect, it } from 'vitest';
import type { LedgerStore } from '../../ledger/src/ledger-store.ts';
import type { Store } from '../src/store.ts';
import { credit, NOW, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

/** Makes statements of every open store fail. */
export interface Faults {
  /** Asked before each statement: whether it fails, not carried out or carried out but not answered. */
  inject(fault: (() => Fault) | null): void;
}

export type Fault = 'none' | 'before' | 'after';

const OPERATIONS = 10_000;
const PHASES = 10;
const CLIENTS = 24;
const ACCOUNTS = times(6, (i) => `caller:key_${i}`);

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What the books must say at the end, counted from the answers alone. */
class Expected {
  readonly balances = new Map<string, bigint>(ACCOUNTS.map((account) => [account, 0n]));
  readonly settled = new Set<string>();
  /** How often an idempotency key was charged. */
  readonly charges = new Map<string, number>();
  readonly contradictions: string[] = [];
  refused = 0;

  add(account: string, amount: bigint): void {
    this.balances.set(account, (this.balances.get(account) ?? 0n) + amount);
  }
}

/** The ledger under random calls of many, some of which fail in the middle. */
export function ledgerRandomSuite(name: string, createDatabase: CreateDatabase, faults: Faults): void {
  describe(`${name} keeps the ledger balanced`, () => {
    const { open, close } = useDatabase(createDatabase);

    afterEach(() => faults.inject(null));

    it(`through ${OPERATIONS} random operations, with crashes in between`, async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const run = new RandomRun(random(seed));
      for (let phase = 1; phase <= PHASES; phase += 1) {
        const stores = [await open(), await open()];
        faults.inject(run.nextFault);
        const until = (OPERATIONS * phase) / PHASES;
        await Promise.all(times(CLIENTS, (i) => run.client(stores[i % 2] as Store, until)));
        faults.inject(null);
        expect(await stores[0]?.ledger.checkBalanced(), `seed ${seed}`).toMatchObject({
          sum: 0n,
          faults: [],
        });
        await Promise.all(stores.map(close));
      }
      await expectSame((await open()).ledger, run.expected, seed);
      expect(run.crashes, `seed ${seed}`).toBeGreaterThan(50);
    });
  });
}

async function expectSame(ledger: LedgerStore, expected: Expected, seed: number): Promise<void> {
  for (;;) if ((await ledger.expireReservations(NOW + 10_000)) === 0) break;
  for (const account of ACCOUNTS) {
    expect(await ledger.balance(account), `seed ${seed}`).toMatchObject({
      balance: expected.balances.get(account),
      reserved: 0n,
    });
  }
  expect(expected.contradictions, `seed ${seed}`).toEqual([]);
  expect(Math.max(...expected.charges.values()), `seed ${seed}`).toBe(1);
  expect(expected.refused, `seed ${seed}`).toBeGreaterThan(10);
  const calls = (await ledger.usage('did:web:a')).reduce((sum, row) => sum + row.calls, 0);
  expect(calls, `seed ${seed}`).toBe(expected.settled.size);
  expect(await ledger.checkBalanced(), `seed ${seed}`).toMatchObject({ sum: 0n, faults: [] });
}

class RandomRun {
  readonly expected = new Expected();
  readonly #random: () => number;
  #operations = 0;
  #ids = 0;
  #untilCrash = 50;
  crashes = 0;

  constructor(numbers: () => number) {
    this.#random = numbers;
  }

  readonly nextFault = (): Fault => {
    this.#untilCrash -= 1;
    if (this.#untilCrash > 0) return 'none';
    this.#untilCrash = 1 + this.#below(400);
    this.crashes += 1;
    return this.#below(2) === 0 ? 'before' : 'after';
  };

  async client({ ledger }: Store, until: number): Promise<void> {
    while (this.#operations < until) {
      if (this.#below(8) === 0) await this.#credit(ledger);
      else await this.#call(ledger);
    }
  }

  async #credit(ledger: LedgerStore): Promise<void> {
    const account = this.#account();
    const amount = BigInt(this.#below(3_000)) - 300n;
    const id = this.#id();
    const outcome = await this.#persist(() => credit(ledger, account, amount, id));
    if (typeof outcome === 'string') this.expected.add(account, amount);
    else this.expected.refused += 1;
  }

  async #call(ledger: LedgerStore): Promise<void> {
    const account = this.#account();
    const id = this.#id();
    const amount = this.#below(1_500);
    const request = { id, account, amount: BigInt(amount), expiresAt: NOW + this.#below(100) };
    const reserved = await this.#persist(() => ledger.reserve(request));
    if (reserved.kind === 'insufficient') {
      this.expected.refused += 1;
      return;
    }
    const fate = this.#below(10);
    if (fate === 0) return;
    if (fate === 1) return this.#persist(() => ledger.release(id));
    if (fate === 2) await this.#persist(() => ledger.expireReservations(NOW + this.#below(100)));
    await this.#settle(ledger, account, id, BigInt(this.#below(amount + 1)), reserved.dust);
  }

  async #settle(
    ledger: LedgerStore,
    account: string,
    id: string,
    charge: bigint,
    dust: bigint,
  ): Promise<void> {
    const scope = this.#below(3) === 0 ? null : `key ${this.#below(800)}`;
    const idempotency = scope === null ? undefined : { scope, requestHash: 'h', expiresAt: NOW + 500 };
    const call = settlement(id, charge, { account, dust, idempotency });
    const outcome = await this.#persist(() => ledger.settle(call));
    if (outcome !== 'settled' && outcome !== 'settled_before') return;
    this.expected.add(account, -charge);
    this.expected.settled.add(id);
    if (scope !== null) this.expected.charges.set(scope, (this.expected.charges.get(scope) ?? 0) + 1);
    // A caller that missed the answer asks again.
    const again = this.#below(20) === 0 ? await this.#persist(() => ledger.settle(call)) : 'settled_before';
    if (again !== 'settled_before') this.expected.contradictions.push(`${id} happened twice`);
    const { balance, reserved } = await this.#persist(() => ledger.balance(account));
    if (balance < reserved) this.expected.contradictions.push(`${account} is below what is reserved`);
  }

  /** Repeats what failed, with the same id, until it is answered. */
  async #persist<T>(operation: () => Promise<T>): Promise<T> {
    this.#operations += 1;
    for (;;) {
      try {
        return await operation();
      } catch (error) {
        if ((error as { code?: string }).code !== 'unavailable') throw error;
      }
    }
  }

  #account(): string {
    return ACCOUNTS[this.#below(ACCOUNTS.length)] ?? '';
  }

  #id(): string {
    this.#ids += 1;
    return `id${this.#ids}`;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
