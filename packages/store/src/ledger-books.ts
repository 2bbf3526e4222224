import type { Dust, Entry, NanoUsdc } from '@tallystick/ledger';
import type { Account, EntryRow } from './ledger-tables.ts';

/** The accounts that a transaction has locked, with its changes, and the entries that it makes. */
export class Books {
  readonly #accounts = new Map<string, { -readonly [Key in keyof Account]: Account[Key] }>();
  readonly #changed = new Set<string>();
  readonly entries: EntryRow[] = [];

  add(accounts: readonly Account[]): void {
    for (const account of accounts) this.#accounts.set(account.account, { ...account });
  }

  has(name: string): boolean {
    return this.#accounts.has(name);
  }

  /** The amount that an account can spend; 0 if it does not exist. */
  available(name: string): NanoUsdc {
    const account = this.#accounts.get(name);
    return account === undefined ? 0n : account.balance - account.reserved;
  }

  post(posting: string, entries: readonly Entry[]): void {
    for (const { account: name, amount } of entries) {
      if (amount === 0n) continue;
      const account = this.#change(name);
      account.balance += amount;
      account.lines += 1;
      this.entries.push({ account: name, line: account.lines, posting, amount, balance: account.balance });
    }
  }

  /** Reserves an amount. Returns the account's dust, which goes with the reservation. */
  reserve(name: string, amount: NanoUsdc): Dust {
    const account = this.#change(name);
    const { dust } = account;
    account.reserved += amount;
    account.dust = 0n;
    return dust;
  }

  /** Ends a reservation. One of nothing may be of an account that does not exist. */
  unreserve(name: string, amount: NanoUsdc, dust: Dust): void {
    if (amount === 0n && dust === 0n) return;
    const account = this.#change(name);
    account.reserved -= amount;
    account.dust += dust;
  }

  changed(): Account[] {
    return [...this.#changed].map((name) => this.#change(name));
  }

  #change(name: string): { -readonly [Key in keyof Account]: Account[Key] } {
    const account = this.#accounts.get(name);
    if (account === undefined) throw new RangeError(`The account ${name} is not locked.`);
    this.#changed.add(name);
    return account;
  }
}

/** @throws {RangeError} where the entries do not sum to 0 */
export function assertBalanced(entries: readonly Entry[]): void {
  const sum = entries.reduce((total, { amount }) => total + amount, 0n);
  if (sum !== 0n) throw new RangeError(`The entries of a posting sum to ${sum}, not to 0.`);
}
