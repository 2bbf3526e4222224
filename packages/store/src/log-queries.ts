import type { VerifierKey } from '@tallystick/core';
import type {
  LeafPage,
  LogIdentity,
  PostingAttempt,
  PostingPage,
  StoredCheckpoint,
  TreeHead,
} from '@tallystick/log';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';

type Compiler = Kysely<Schema>;

/** A posting as its table stores it: the columns of its place are null together. */
export interface ChainPostingRow {
  sequence: number;
  batchAt: number;
  size: number;
  root: Uint8Array;
  state: string;
  nonce: number;
  txHash: string | null;
  blockHeight: number | null;
  blockHash: string | null;
  blockTime: number | null;
  finalizedAt: number | null;
}

/** The anchor log's statements, which all databases share. */
export function logQueries(db: Compiler, dialect: Dialect) {
  return {
    ...stateQueries(db, dialect),
    ...leafQueries(db),
    ...treeQueries(db),
    ...postingQueries(db),
    ...leafListQueries(db),
  };
}

/** A leaf with the columns of its posting, which are null together. */
export interface ListedLeafRow extends Nullable<Omit<ChainPostingRow, 'batchAt'>> {
  readonly index: number;
  readonly hash: Uint8Array;
  readonly batchAt: number;
  readonly postedAt: number | null;
}

type Nullable<Row> = { [P in keyof Row]: Row[P] | null };

export type LogQueries = ReturnType<typeof logQueries>;

function stateQueries(db: Compiler, { forUpdate, now }: Dialect) {
  const state = db
    .selectFrom('log_state')
    .select([
      'next_index as nextIndex',
      'batch_floor as batchFloor',
      'head_size as headSize',
      'head_root as headRoot',
      'lease_epoch as leaseEpoch',
      'origin',
      'chain_id as chainId',
      'public_key as publicKey',
    ]);
  return {
    getState: statement(() => state),
    lockState: statement(() => state.modifyEnd(forUpdate)),
    setIdentity: statement((v: LogIdentity) =>
      db.updateTable('log_state').set({ origin: v.origin, chain_id: v.chainId, public_key: v.publicKey }),
    ),
    setNext: statement((v: { nextIndex: number; batchFloor: number }) =>
      db.updateTable('log_state').set({ next_index: v.nextIndex, batch_floor: v.batchFloor }),
    ),
    setHead: statement((v: TreeHead) =>
      db.updateTable('log_state').set({ head_size: v.size, head_root: v.root }),
    ),
    takeLease: statement((v: { holder: string; ttl: number }) =>
      db
        .updateTable('log_state')
        .set({
          lease_epoch: sql`lease_epoch + case when lease_holder = ${v.holder} then 0 else 1 end`,
          lease_holder: v.holder,
          lease_expires_at: sql`${now} + cast(${v.ttl} as double precision)`,
        })
        .where((row) =>
          row.or([
            row('lease_holder', 'is', null),
            row('lease_holder', '=', v.holder),
            row('lease_expires_at', '<=', now),
          ]),
        )
        .returning('lease_epoch as epoch'),
    ),
    // Dropping the lease ends its epoch: whatever its holder still tries to write is fenced.
    dropLease: statement((v: { holder: string }) =>
      db
        .updateTable('log_state')
        .set({ lease_epoch: sql`lease_epoch + 1`, lease_holder: sql`null` })
        .where('lease_holder', '=', v.holder),
    ),
  };
}

function leafQueries(db: Compiler) {
  const leaves = db.selectFrom('leaves').select(['idx as index', 'hash', 'batch_at as batchAt']);
  return {
    leafByHash: statement((v: { hash: Uint8Array }) => leaves.where('hash', '=', v.hash)),
    leafByIndex: statement((v: { index: number }) => leaves.where('idx', '=', v.index)),
    hashesOfLeaves: statement((v: { from: number; to: number }) =>
      db
        .selectFrom('leaves')
        .select('hash')
        .where('idx', '>=', v.from)
        .where('idx', '<', v.to)
        .orderBy('idx'),
    ),
  };
}

function treeQueries(db: Compiler) {
  const checkpoints = db.selectFrom('checkpoints').select(['size', 'root', 'note']);
  return {
    putCheckpoint: statement((v: StoredCheckpoint) =>
      db
        .insertInto('checkpoints')
        .values({ size: v.size, root: v.root, note: v.note })
        .onConflict((conflict) =>
          conflict.column('size').doUpdateSet((row) => ({ note: row.ref('excluded.note') })),
        ),
    ),
    newestCheckpoint: statement(() => checkpoints.orderBy('size', 'desc').limit(sql.lit(1))),
    putWitness: statement((v: VerifierKey) =>
      db
        .insertInto('log_witnesses')
        .values({ name: v.name, public_key: v.publicKey })
        .onConflict((conflict) => conflict.columns(['name', 'public_key']).doNothing()),
    ),
    listWitnesses: statement(() =>
      db
        .selectFrom('log_witnesses')
        .select(['name', 'public_key as publicKey'])
        .orderBy('name')
        .orderBy('public_key'),
    ),
    getCheckpoint: statement((v: { size: number }) => checkpoints.where('size', '=', v.size)),
    checkpointWithin: statement((v: { size: number }) =>
      checkpoints.where('size', '<=', v.size).orderBy('size', 'desc').limit(sql.lit(1)),
    ),
    pageOfCheckpoints: statement((v: { after: number; limit: number }) =>
      checkpoints.where('size', '>', v.after).orderBy('size').limit(v.limit),
    ),
    purgeCheckpoints: statement((v: { before: number; limit: number }) =>
      raw(
        db,
        sql`
          delete from checkpoints where size in (
            select size from checkpoints
            where size < (
                select size from postings where batch_at < ${v.before} order by sequence desc limit 1)
              and not exists (select 1 from postings where postings.size = checkpoints.size)
            order by size limit ${v.limit})`,
      ),
    ),
    getTile: statement((v: { level: number; index: number }) =>
      db.selectFrom('tiles').select('hashes').where('level', '=', v.level).where('idx', '=', v.index),
    ),
    pageOfTiles: statement((v: { level: number; index: number; limit: number }) =>
      db
        .selectFrom('tiles')
        .select(['level', 'idx as index', 'hashes'])
        .where((tile) => tile(tile.refTuple('level', 'idx'), '>', tile.tuple(v.level, v.index)))
        .orderBy('level')
        .orderBy('idx')
        .limit(v.limit),
    ),
  };
}

function postingQueries(db: Compiler) {
  const postings = db
    .selectFrom('postings')
    .select([
      'sequence',
      'batch_at as batchAt',
      'size',
      'root',
      'state',
      'nonce',
      'tx_hash as txHash',
      'block_height as blockHeight',
      'block_hash as blockHash',
      'block_time as blockTime',
      'finalized_at as finalizedAt',
    ]);
  const attempts = db
    .selectFrom('posting_attempts')
    .select([
      'sequence',
      'nonce',
      'tx_hash as txHash',
      'raw',
      'max_fee_per_gas as maxFeePerGas',
      'max_priority_fee_per_gas as maxPriorityFeePerGas',
      'created_at as createdAt',
    ]);
  return {
    newestPosting: statement(() => postings.orderBy('sequence', 'desc').limit(sql.lit(1))),
    postingOf: statement((v: { leafIndex: number }) =>
      postings.where('size', '>', v.leafIndex).orderBy('size').limit(sql.lit(1)),
    ),
    pageOfPostings: statement((v: { after: number; limit: number }) =>
      postings.where('sequence', '>', v.after).orderBy('sequence').limit(v.limit),
    ),
    insertPosting: statement(
      (v: Omit<ChainPostingRow, 'txHash' | 'blockHeight' | 'blockHash' | 'blockTime'>) =>
        db.insertInto('postings').values({
          sequence: v.sequence,
          batch_at: v.batchAt,
          size: v.size,
          root: v.root,
          state: v.state,
          nonce: v.nonce,
          finalized_at: v.finalizedAt,
        }),
    ),
    movePosting: statement((v: Omit<ChainPostingRow, 'batchAt' | 'size' | 'root' | 'nonce'>) =>
      db
        .updateTable('postings')
        .set({
          state: v.state,
          tx_hash: v.txHash,
          block_height: v.blockHeight,
          block_hash: v.blockHash,
          block_time: v.blockTime,
          finalized_at: v.finalizedAt,
        })
        .where('sequence', '=', v.sequence),
    ),
    setNonce: statement((v: { sequence: number; nonce: number }) =>
      db.updateTable('postings').set({ nonce: v.nonce }).where('sequence', '=', v.sequence),
    ),
    attemptByHash: statement((v: { txHash: string }) => attempts.where('tx_hash', '=', v.txHash)),
    attemptsOf: statement((v: { sequence: number }) =>
      attempts.where('sequence', '=', v.sequence).orderBy('attempt'),
    ),
    insertAttempt: statement((v: PostingAttempt & { attempt: number }) =>
      db.insertInto('posting_attempts').values({
        sequence: v.sequence,
        attempt: v.attempt,
        nonce: v.nonce,
        tx_hash: v.txHash,
        raw: v.raw,
        max_fee_per_gas: v.maxFeePerGas,
        max_priority_fee_per_gas: v.maxPriorityFeePerGas,
        created_at: v.createdAt,
      }),
    ),
  };
}

type PostingValues = Required<PostingPage>;
type LeafValues = Pick<LeafPage, 'from' | 'before' | 'limit'>;

/** Leaves with the first posting whose root covers each. */
function leafListQueries(db: Compiler) {
  const page = <V extends LeafValues>(
    from: RawBuilder<unknown>,
    index: RawBuilder<unknown>,
    where: (v: V) => RawBuilder<unknown>,
  ) =>
    statement((v: V) =>
      raw(
        db,
        sql<ListedLeafRow>`
          select leaves.idx as "index", hash, leaves.batch_at as "batchAt", sequence, postings.batch_at as "postedAt",
            size, root, state, nonce, tx_hash as "txHash", block_height as "blockHeight", block_hash as "blockHash",
            block_time as "blockTime", finalized_at as "finalizedAt"
          from ${from} left join postings on postings.sequence = (
            select covering.sequence from postings as covering
            where covering.size > leaves.idx order by covering.size limit ${sql.lit(1)})
          where ${where(v)} and ${index} >= ${v.from} and ${index} < ${v.before}
          order by ${index} desc limit ${v.limit}`,
      ),
    );
  return {
    pageOfLeaves: page<LeafValues>(sql`leaves`, sql`leaves.idx`, () => sql`true`),
    pageOfAnchors: page<LeafValues & { owner: string }>(
      sql`anchor_list join leaves on leaves.idx = anchor_list.idx`,
      sql`anchor_list.idx`,
      (v) => sql`anchor_list.owner = ${v.owner}`,
    ),
    countOfAnchors: statement((v: Pick<LeafValues, 'from' | 'before'> & { owner: string }) =>
      raw(
        db,
        sql<{ count: number }>`
          select cast(count(*) as bigint) as count from anchor_list
          where owner = ${v.owner} and idx >= ${v.from} and idx < ${v.before}`,
      ),
    ),
    postingsBefore: {
      sequence: postingsBefore(db, () => sql`true`),
      state: postingsBefore(db, (v) => sql`state = ${v.state}`),
      size: postingsBefore(db, (v) => sql`size = ${v.size}`),
      // Every transaction of a posting is one of its attempts, which have an index.
      txHash: postingsBefore(
        db,
        (v) => sql`
          sequence = (select sequence from posting_attempts where tx_hash = ${v.txHash}) and tx_hash = ${v.txHash}`,
      ),
    },
  };
}

/** @param lookedUp the condition that is looked up in an index */
function postingsBefore(db: Compiler, lookedUp: (v: PostingValues) => RawBuilder<unknown>) {
  const when = (value: unknown, type: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
    sql`(cast(${value} as ${type}) is null or ${condition})`;
  return statement((v: PostingValues) =>
    raw(
      db,
      sql<ChainPostingRow>`
        select sequence, batch_at as "batchAt", size, root, state, nonce, tx_hash as "txHash",
          block_height as "blockHeight", block_hash as "blockHash", block_time as "blockTime",
          finalized_at as "finalizedAt"
        from postings
        where ${lookedUp(v)} and sequence < ${v.before} and batch_at >= ${v.from} and batch_at < ${v.to}
          and ${when(v.state, sql`text`, sql`state || '' = ${v.state}`)}
          and ${when(v.size, sql`bigint`, sql`size + 0 = ${v.size}`)}
          and ${when(v.txHash, sql`text`, sql`tx_hash = ${v.txHash}`)}
        order by sequence desc limit ${v.limit}`,
    ),
  );
}
