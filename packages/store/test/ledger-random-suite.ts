import { randomUUID } from 'node:crypto';
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

/** How many random operations a test carries out: 3,000, or as many as TALLY_TEST_OPERATIONS says. */
const OPERATIONS = Number(process.env['TALLY_TEST_OPERATIONS'] ?? 3_000);
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
  readonly dust = new Map<string, bigint>();
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
        await Promise.all(times(CLIENTS, (i) => run.client(stores[i % 2] as Store, null, until)));
        faults.inject(null);
        expect(await stores[0]?.ledger.checkBalanced(), `seed ${seed}`).toMatchObject({
          sum: 0n,
          faults: [],
        });
        await Promise.all(stores.map(close));
      }
      await expectSame((await open()).ledger, run.expected, seed);
      expect(run.expected.refused, `seed ${seed}`).toBeGreaterThan(10);
      expect(run.crashes, `seed ${seed}`).toBeGreaterThan(OPERATIONS / 200);
    });

    it('while three processes hold slices of it, and die', async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const run = new RandomRun(random(seed));
      const begin = async (): Promise<[Store, string]> => {
        const store = await open();
        const process = randomUUID();
        await store.claims.renewLease(process, 3_600);
        return [store, process];
      };
      for (const account of ACCOUNTS) {
        await credit((await open()).ledger, account, 2_500n);
        run.expected.add(account, 2_500n);
      }
      const running = [await begin(), await begin(), await begin()];
      for (let phase = 1; phase <= PHASES; phase += 1) {
        faults.inject(run.nextFault);
        const until = (OPERATIONS * phase) / PHASES / 4;
        await Promise.all(times(CLIENTS, (i) => run.client(...(running[i % 3] as [Store, string]), until)));
        faults.inject(null);
        // One dies with what it holds; the others take it back. Its own calls are not charged any more.
        const [dead, process] = running.shift() as [Store, string];
        const { ledger, claims } = (running[0] as [Store, string])[0];
        const late = {
          id: `late${phase}`,
          account: ACCOUNTS[0] as string,
          amount: 5n,
          expiresAt: NOW + 100,
          process,
        };
        await dead.ledger.reserve(late);
        await claims.endLease(process);
        for (;;) if ((await ledger.expireReservations(NOW)) === 0) break;
        expect(await dead.ledger.settle(settlement(late.id, 5n, late)), `seed ${seed}`).toBe('unreserved');
        expect(await ledger.checkBalanced(), `seed ${seed}`).toMatchObject({ sum: 0n, faults: [] });
        running.push(await begin());
      }
      await Promise.all(running.map(([store]) => close(store)));
      await expectSame((await open()).ledger, run.expected, seed);
    });
  });
}

async function expectSame(ledger: LedgerStore, expected: Expected, seed: number): Promise<void> {
  for (;;) if ((await ledger.expireReservations(NOW + 10_000)) === 0) break;
  for (const account of ACCOUNTS) {
    expect(await ledger.balance(account), `seed ${seed}`).toMatchObject({
      balance: expected.balances.get(account),
      reserved: 0n,
      dust: expected.dust.get(account),
    });
  }
  expect(expected.contradictions, `seed ${seed}`).toEqual([]);
  expect(Math.max(...expected.charges.values()), `seed ${seed}`).toBe(1);
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

  async client({ ledger }: Store, process: string | null, until: number): Promise<void> {
    while (this.#operations < until) {
      if (this.#below(8) === 0) await this.#credit(ledger, process === null ? 3_000 : 800);
      else await this.#call(ledger, process);
    }
  }

  async #credit(ledger: LedgerStore, most: number): Promise<void> {
    const account = this.#account();
    const amount = BigInt(this.#below(most)) - 300n;
    const id = this.#id();
    const outcome = await this.#persist(() => credit(ledger, account, amount, id));
    if (typeof outcome === 'string') this.expected.add(account, amount);
    else this.expected.refused += 1;
  }

  async #call(ledger: LedgerStore, process: string | null): Promise<void> {
    const account = this.#account();
    const id = this.#id();
    // Most calls are small enough for a slice.
    const amount = this.#below(process === null || this.#below(10) === 0 ? 1_500 : 60);
    const request = { id, account, amount: BigInt(amount), expiresAt: NOW + this.#below(100), process };
    const reserved = await this.#persist(() => ledger.reserve(request));
    if (reserved.kind !== 'reserved') {
      this.expected.refused += 1;
      return;
    }
    const fate = this.#below(10);
    if (fate === 0) return;
    if (fate === 1) return this.#persist(() => ledger.release(id));
    if (fate === 2) await this.#persist(() => ledger.expireReservations(NOW + this.#below(100)));
    await this.#settle(ledger, { account, id, charge: BigInt(this.#below(amount + 1)), dust: reserved.dust });
  }

  async #settle(
    ledger: LedgerStore,
    { account, id, charge, dust: before }: { account: string; id: string; charge: bigint; dust: bigint },
  ): Promise<void> {
    // Without a charge, a settlement happens even where its reservation has ended, and with it what carries dust.
    const dust = charge === 0n ? before : (before + BigInt(this.#below(1_000_000))) % 1_000_000n;
    const scope = this.#below(3) === 0 ? null : `key ${this.#below(800)}`;
    const idempotency = scope === null ? undefined : { scope, requestHash: 'h', expiresAt: NOW + 500 };
    const call = settlement(id, charge, { account, dust, idempotency });
    const outcome = await this.#persist(() => ledger.settle(call));
    if (outcome !== 'settled' && outcome !== 'settled_before') return;
    this.expected.add(account, -charge);
    this.expected.dust.set(account, (this.expected.dust.get(account) ?? 0n) + dust - before);
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
