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
import { all } from './database-work.ts';
import { GroupCommit } from './group-commit.ts';
import { assertBalanced } from './ledger-books.ts';
import { checkBalanced } from './ledger-check.ts';
import { commitLedger, type LedgerOutcome, type LedgerWrite } from './ledger-commit.ts';
import { accountFrom, compressionFrom, usageFrom } from './ledger-rows.ts';
import { EVERYBODY } from './ledger-settle.ts';
import { expireReservations, post, registerMember } from './ledger-transactions.ts';
import type { Queries } from './queries.ts';
import type { SqlDatabase } from './sql-database.ts';

const MAX_BATCH = 512;
const MAX_PENDING = 10_000;
const EXPIRE_LIMIT = 1_000;

/** These sort before and after every day such as `2026-03-01`, by bytes. */
const FIRST_DAY = '';
const LAST_DAY = '~';

/** A {@link LedgerStore} on a SQL database. */
export class SqlLedgerStore implements LedgerStore {
  readonly #database: SqlDatabase;
  readonly #queries: Queries;
  readonly #writes: GroupCommit<LedgerWrite, LedgerOutcome>;

  constructor(database: SqlDatabase, onCommit?: (seconds: number) => void) {
    this.#database = database;
    this.#queries = database.queries;
    this.#writes = new GroupCommit({
      commit: (batch) => database.transaction(commitLedger(database, batch), durabilityOf(batch)),
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

  reserve(reserve: ReserveRequest): Promise<ReserveOutcome> {
    return this.#writes.submit({ kind: 'reserve', reserve }) as Promise<ReserveOutcome>;
  }

  async settle(settlement: Settlement): Promise<SettleOutcome> {
    assertBalanced(settlement.entries);
    const settle = () => this.#writes.submit({ kind: 'settle', settlement }) as Promise<SettleOutcome>;
    return settle().catch((error: unknown) => {
      // The answer was delivered, and nobody knows whether its bill was written. A repetition writes it at most once.
      if (error instanceof TallyError && error.code === 'unavailable') return settle();
      throw error;
    });
  }

  async release(id: string): Promise<void> {
    await this.#writes.submit({ kind: 'release', id });
  }

  async post(posting: LedgerPosting): ReturnType<LedgerStore['post']> {
    assertBalanced(posting.entries);
    return this.#database.transaction(post(this.#database, posting));
  }

  async balance(account: string): Promise<AccountBalance> {
    const [row] = await this.#database.read(all(this.#queries.accountByName, { account }));
    const { balance, reserved, dust, lines } = accountFrom({ account, ...(row ?? UNUSED) });
    return { balance, reserved, dust, lines };
  }

  async reserved(): Promise<NanoUsdc> {
    const [row] = await this.#database.read(all(this.#queries.reservedInAll, {}));
    return BigInt(row?.amount ?? 0);
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

  expireReservations(now: number): Promise<number> {
    const { ledgerTables } = this.#database;
    return this.#database.transaction(expireReservations(ledgerTables, now, EXPIRE_LIMIT), 'relaxed');
  }

  checkBalanced(): Promise<BalanceCheck> {
    return this.#database.read(checkBalanced(this.#queries.ledgerCheck), 'unhurried');
  }

  registerMember(member: Parameters<LedgerStore['registerMember']>[0]): Promise<Member | 'handle_taken'> {
    return this.#database.transaction(registerMember(this.#queries, member));
  }

  async member(did: string): Promise<Member | null> {
    const [row] = await this.#database.read(all(this.#queries.memberByDid, { did }));
    return row ?? null;
  }

  leaderboard(limit: number): Promise<Member[]> {
    return this.#database.read(all(this.#queries.leaders, { limit }));
  }

  /** Refuses new writes, and commits the waiting ones. */
  close(): Promise<void> {
    return this.#writes.close();
  }
}

const UNUSED = { balance: '0', reserved: '0', dust: '0', lines: 0 };

/** Only moved money has to be on disk: a reservation that is lost with the machine frees its money. */
function durabilityOf(batch: readonly LedgerWrite[]): 'durable' | 'relaxed' {
  return batch.some(({ kind }) => kind === 'settle') ? 'durable' : 'relaxed';
}
