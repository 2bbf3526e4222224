import { TallyError } from '@tallystick/core';
import type {
  AccountBalance,
  BalanceCheck,
  CompressionTotals,
  LedgerPosting,
  LedgerStore,
  Member,
  NanoUsdc,
  ReserveOutcome,
  ReserveRequest,
  Settlement,
  SettleOutcome,
  StatementLine,
  UsageRow,
} from '@tallystick/ledger';
import { spendingPeriods } from '@tallystick/ledger';
import { all, run } from './database-work.ts';
import { GroupCommit } from './group-commit.ts';
import { assertBalanced } from './ledger-books.ts';
import { checkBalanced } from './ledger-check.ts';
import {
  commitLedger,
  type LedgerOutcome,
  type LedgerWrite,
  type Reserved,
  type SettledHold,
} from './ledger-commit.ts';
import { accountFrom, compressionFrom, usageFrom } from './ledger-rows.ts';
import { EVERYBODY } from './ledger-settle.ts';
import { expireReservations, post, registerMember } from './ledger-transactions.ts';
import type { OwnLeases } from './own-leases.ts';
import type { Queries } from './queries.ts';
import { Slices } from './slices.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { StoreObserver } from './store.ts';

const MAX_BATCH = 512;
const MAX_PENDING = 10_000;
const EXPIRE_LIMIT = 1_000;

interface LedgerStoreOptions {
  readonly leases: OwnLeases;
  readonly onCommit: (seconds: number) => void;
  readonly observer: Pick<StoreObserver, 'storedReceipt'>;
}

/** These sort before and after every day such as `2026-03-01`, by bytes. */
const FIRST_DAY = '';
const LAST_DAY = '~';

/** A {@link LedgerStore} on a SQL database. */
export class SqlLedgerStore implements LedgerStore {
  readonly #database: SqlDatabase;
  readonly #observer: Pick<StoreObserver, 'storedReceipt'>;
  readonly #queries: Queries;
  readonly #writes: GroupCommit<LedgerWrite, LedgerOutcome>;
  readonly slices: Slices;

  constructor(database: SqlDatabase, { leases, onCommit, observer }: LedgerStoreOptions) {
    this.#observer = observer;
    this.slices = new Slices(leases, {
      release: (id) => this.#writes.submit({ kind: 'release', id }),
      shrink: (id, to) => this.#writes.submit({ kind: 'shrink', id, to }),
      available: async (account) => {
        const { balance, reserved } = await this.#booked(account);
        return balance - reserved;
      },
      recall: async (account) => {
        const slices = await database.read(all(this.#queries.slicesOf, { account }));
        if (slices.some(({ slice }) => slice === 'open'))
          await database.transaction(() => run(this.#queries.recallSlices, { account }), 'relaxed');
        return slices.length > 0;
      },
      recalledFrom: async (process) => {
        const rows = await database.read(all(this.#queries.recalledFrom, { process }));
        return new Set(rows.map(({ id }) => id));
      },
    });
    const heldFor = (spender: string): NanoUsdc => this.slices.heldFor(spender);
    this.#database = database;
    this.#queries = database.queries;
    this.#writes = new GroupCommit({
      commit: (batch) =>
        database.transaction(() => commitLedger(database, batch, heldFor), durabilityOf(batch)),
      isRowFault: (error) => database.isRowFault(error),
      maxBatch: MAX_BATCH,
      maxPending: MAX_PENDING,
      onCommit,
    });
  }

  /** See `Store.waiting`. */
  get waiting(): number {
    return this.#writes.waiting;
  }

  async reserve(request: ReserveRequest): Promise<ReserveOutcome> {
    return this.slices.hold(request) ?? this.slices.tryWith([request.account], () => this.#reserve(request));
  }

  async settle(settlement: Settlement): Promise<SettleOutcome> {
    assertBalanced(settlement.entries);
    const { receipt, usage, reservationId, dust } = settlement;
    const hold = this.slices.holdOf(reservationId);
    const settle = () => this.#writes.submit({ kind: 'settle', settlement, hold });
    const ended = await settle()
      .catch((error: unknown) => {
        // The answer was delivered, and nobody knows whether its bill was written. A repetition writes it at most once.
        if (error instanceof TallyError && error.code === 'unavailable') return settle();
        throw error;
      })
      .catch((error: unknown) => {
        if (reservationId !== null) this.slices.doubt(reservationId);
        throw error;
      });
    if (hold !== undefined && reservationId !== null)
      this.slices.settled(reservationId, ended as SettledHold, dust);
    const outcome = hold === undefined ? (ended as SettleOutcome) : (ended as SettledHold).outcome;
    if (outcome === 'settled') this.#observer.storedReceipt?.(receipt, usage.charged);
    return outcome;
  }

  async release(id: string): Promise<void> {
    if (!this.slices.release(id)) await this.#writes.submit({ kind: 'release', id });
  }

  async post(posting: LedgerPosting): ReturnType<LedgerStore['post']> {
    assertBalanced(posting.entries);
    const debited = posting.entries.map(({ account }) => account);
    return this.slices.tryWith(debited, () =>
      this.#database.transaction(() => post(this.#database, posting)),
    );
  }

  async postedAt(posting: string): Promise<number | null> {
    const [row] = await this.#database.read(all(this.#queries.postingById, { id: posting }));
    return row?.at ?? null;
  }

  async balance(account: string): Promise<AccountBalance> {
    const { balance, reserved, dust, lines } = await this.#booked(account);
    const spare = this.slices.spare(account);
    return { balance, reserved: less(reserved, spare.amount), dust: dust + spare.dust, lines };
  }

  async reserved(): Promise<NanoUsdc> {
    const [row] = await this.#database.read(all(this.#queries.reservedInAll, {}));
    return less(BigInt(row?.amount ?? 0), this.slices.spare().amount);
  }

  async statement(
    account: string,
    { after = 0, limit }: { readonly after?: number; readonly limit: number },
  ): Promise<StatementLine[]> {
    const rows = await this.#database.read(all(this.#queries.pageOfLines, { account, after, limit }));
    return rows.map((row) => ({ ...row, amount: BigInt(row.amount), balance: BigInt(row.balance) }));
  }

  async usage(
    subject: string,
    { from = FIRST_DAY, to = LAST_DAY }: { readonly from?: string; readonly to?: string } = {},
  ): Promise<UsageRow[]> {
    return (await this.#database.read(all(this.#queries.usageOf, { subject, from, to }))).map(usageFrom);
  }

  async compression(subject: string | null): Promise<CompressionTotals> {
    const { compressionOf, methodsOf } = this.#queries;
    const whose = { subject: subject ?? EVERYBODY };
    const [[days], methods] = await Promise.all([
      this.#database.read(all(compressionOf, whose)),
      this.#database.read(all(methodsOf, whose)),
    ]);
    return compressionFrom(days, methods);
  }

  async spent(spenders: readonly string[], now: number): ReturnType<LedgerStore['spent']> {
    const { day, firstOfMonth } = spendingPeriods(now);
    const rows = spenders.map(async (spender) => {
      const [row] = await this.#database.read(
        all(this.#queries.spentAndReserved, { spender, day, firstOfMonth }),
      );
      return [spender, { day: BigInt(row?.day ?? 0), month: BigInt(row?.month ?? 0) }] as const;
    });
    return new Map(await Promise.all(rows));
  }

  expireReservations(now: number): Promise<number> {
    this.slices.expire(now);
    const { ledgerTables } = this.#database;
    return this.#database.transaction(() => expireReservations(ledgerTables, now, EXPIRE_LIMIT), 'relaxed');
  }

  checkBalanced(): Promise<BalanceCheck> {
    return this.#database.read(checkBalanced(this.#queries.ledgerCheck), 'unhurried');
  }

  registerMember(member: Parameters<LedgerStore['registerMember']>[0]): Promise<Member | 'handle_taken'> {
    return this.#database.transaction(() => registerMember(this.#queries, member));
  }

  async member(did: string): Promise<Member | null> {
    const [row] = await this.#database.read(all(this.#queries.memberByDid, { did }));
    return row ?? null;
  }

  leaderboard(limit: number): Promise<Member[]> {
    return this.#database.read(all(this.#queries.leaders, { limit }));
  }

  /** Refuses new writes, and commits the waiting ones. */
  async close(): Promise<void> {
    await this.slices.close();
    await this.#writes.close();
  }

  /** An account as it stands in the database. */
  async #booked(account: string): Promise<AccountBalance> {
    const [row] = await this.#database.read(all(this.#queries.accountByName, { account }));
    return accountFrom({ account, ...(row ?? UNUSED) });
  }

  async #reserve(reserve: ReserveRequest): Promise<ReserveOutcome> {
    const slice = this.slices.wanted(reserve);
    let outcome: Reserved | undefined;
    try {
      outcome = (await this.#writes.submit({ kind: 'reserve', reserve, slice })) as Reserved;
    } finally {
      if (slice !== undefined) this.slices.taken(reserve, slice, outcome);
    }
    if (outcome.kind !== 'reserved') return outcome;
    const { kind, dust, available, windows } = outcome;
    const { amount: spare } = this.slices.spare(reserve.account);
    return { kind, dust, available: available === null ? null : available + spare, windows };
  }
}

/** What can be read of slices and of accounts was not read at one moment. */
function less(reserved: NanoUsdc, spare: NanoUsdc): NanoUsdc {
  return reserved > spare ? reserved - spare : 0n;
}

const UNUSED = { balance: '0', reserved: '0', dust: '0', lines: 0 };

/** Only moved money has to be on disk: a reservation that is lost with the machine frees its money. */
function durabilityOf(batch: readonly LedgerWrite[]): 'durable' | 'relaxed' {
  return batch.some(({ kind }) => kind === 'settle') ? 'durable' : 'relaxed';
}
