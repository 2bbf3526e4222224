import type { Claim, ClaimStore, TakeOutcome } from '@tallystick/ledger';
import type { FoundClaim } from './claim-tables.ts';
import { run, type Work } from './database-work.ts';
import { GroupCommit } from './group-commit.ts';
import type { OwnLeases } from './own-leases.ts';
import { replayOf } from './put-receipts.ts';
import type { SqlDatabase } from './sql-database.ts';

const MAX_BATCH = 512;
const MAX_PENDING = 10_000;

type Token = Pick<Claim, 'scope' | 'token'>;

/**
 * A {@link ClaimStore} on a SQL database. Claims are taken in transactions of their own and released in others: each
 * kind locks its rows in the order of their scopes, which a transaction that did both could not.
 */
export class SqlClaimStore implements ClaimStore {
  readonly #database: SqlDatabase;
  readonly #leases: OwnLeases;
  readonly #takes: GroupCommit<Claim, TakeOutcome>;
  readonly #releases: GroupCommit<Token, void>;

  constructor(database: SqlDatabase, leases: OwnLeases, onCommit?: (seconds: number) => void) {
    this.#database = database;
    this.#leases = leases;
    const shared = {
      isRowFault: (error: unknown) => database.isRowFault(error),
      maxBatch: MAX_BATCH,
      maxPending: MAX_PENDING,
      onCommit,
    };
    this.#takes = new GroupCommit({
      ...shared,
      commit: (batch) => database.transaction(() => takeClaims(database, batch)),
    });
    // If a release is lost in a crash of the machine, the end of the process's lease ends the claim.
    this.#releases = new GroupCommit({
      ...shared,
      commit: (batch) => database.transaction(() => releaseClaims(database, batch), 'relaxed'),
    });
  }

  /** See `Store.waiting`. */
  get waiting(): number {
    return this.#takes.waiting + this.#releases.waiting;
  }

  async renewLease(process: string, seconds: number): Promise<void> {
    const { renewLease } = this.#database.queries;
    const begun = performance.now();
    await this.#database.transaction(() => run(renewLease, { id: process, seconds }));
    this.#leases.renewed(process, begun, seconds);
  }

  async endLease(process: string): Promise<void> {
    this.#leases.ended(process);
    await this.#database.transaction(() => run(this.#database.queries.endLease, { id: process }), 'relaxed');
  }

  take(claim: Claim): Promise<TakeOutcome> {
    return this.#takes.submit(claim);
  }

  release(claim: Token): Promise<void> {
    return this.#releases.submit(claim);
  }

  async forgetDead(): Promise<void> {
    const { forgetProcesses, forgetClaims } = this.#database.queries;
    function* forget(): Work<void> {
      yield* run(forgetProcesses, {});
      yield* run(forgetClaims, {});
    }
    await this.#database.transaction(() => forget(), 'relaxed');
  }

  /** Refuses new writes, and commits the waiting ones. */
  async close(): Promise<void> {
    await Promise.all([this.#takes.close(), this.#releases.close()]);
  }
}

function* releaseClaims({ claimTables }: SqlDatabase, batch: readonly Token[]): Work<undefined[]> {
  yield* claimTables.deleteClaims(batch);
  return batch.map(() => undefined);
}

/** Takes claims. Returns one outcome per claim, in their order. */
function* takeClaims(
  { claimTables: tables, receiptTables }: SqlDatabase,
  claims: readonly Claim[],
): Work<TakeOutcome[]> {
  // Of several claims on one scope, the first is tried. The order is reversed because a map keeps the last.
  const first = new Map(claims.toReversed().map((claim) => [claim.scope, claim]));
  const inserted = yield* tables.insertClaims([...first.values()]);
  const taken = new Set([...first.values()].filter(({ scope }) => inserted.has(scope)));
  // Read after the insert, which waits for a claim that is just ending: so either its record is seen, or its claim.
  const records = yield* receiptTables.findRecords([...first.keys()]);
  const others = claims.filter((claim) => !taken.has(claim));
  const held = yield* tables.findClaims([...new Set(others.map(({ scope }) => scope))]);
  yield* tables.deleteClaims([...taken].filter(({ scope }) => records.has(scope)));
  return claims.map((claim) => {
    const record = records.get(claim.scope);
    if (record !== undefined) return replayOf(record, claim.requestHash);
    return taken.has(claim) ? { kind: 'taken' } : heldBy(held.get(claim.scope), claim);
  });
}

/** @param held undefined for a claim that has ended since the insert: the waiting request tries again */
function heldBy(held: FoundClaim | undefined, { requestHash }: Claim): TakeOutcome {
  if (held === undefined) return { kind: 'held', live: true };
  const { live } = held;
  return live && held.requestHash !== requestHash ? { kind: 'reused' } : { kind: 'held', live };
}
