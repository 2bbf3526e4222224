import type { VerifierKey } from '@tallystick/core';

/** A hash's place in the log. Times are unix seconds. */
export interface Leaf {
  /** From 0, contiguous. */
  readonly index: number;
  /** 32 bytes, as accepted; the leaf hash is SHA-256(0x00 || hash). */
  readonly hash: Uint8Array;
  /** Unix seconds of the posting that it is scheduled for. It never falls as indexes rise. */
  readonly batchAt: number;
}

export interface AcceptRequest {
  /** Hashes of 32 bytes each. A hash that comes twice gets the same leaf. */
  readonly hashes: readonly Uint8Array[];
  /** Unix seconds of the next posting. A leaf gets a later one if that batch is closed already. */
  readonly batchAt: number;
  /** Counter of the hashes that are new to the log; null where there is no limit. */
  readonly quota: { readonly counter: string; readonly limit: number; readonly expiresAt: number } | null;
  /** Account whose list of anchored hashes they enter; absent or null for none. */
  readonly owner?: string | null;
  /** Public id of the API key that they came with: they enter that key's part of the list too. */
  readonly key?: string | null;
}

/** A part of the log, or of the hashes that somebody handed in, newest leaf first. */
export interface LeafPage {
  /** Account that handed the hashes in; null for the leaves of everybody. */
  readonly owner: string | null;
  /** Public id of the API key of that account that the hashes came with; absent or null for any, or none. */
  readonly key?: string | null;
  /** Index of a leaf, inclusive. */
  readonly from: number;
  /** Index of a leaf, exclusive. */
  readonly before: number;
  readonly limit: number;
}

/** A leaf, and the first posting whose root covers it; null until there is one. */
export interface ListedLeaf extends Leaf {
  readonly posting: ChainPosting | null;
}

/** A part of the postings, newest first. Times are unix seconds. */
export interface PostingPage {
  /** Scheduled time, inclusive. */
  readonly from: number;
  /** Scheduled time, exclusive. */
  readonly to: number;
  /** Sequence of a posting, exclusive. */
  readonly before: number;
  readonly limit: number;
  /** Only postings in this state; absent or null for any. */
  readonly state?: PostingState | null;
  /** Only the posting with this transaction, `0x` and 64 hex; absent or null for any. */
  readonly txHash?: string | null;
  /** Only the posting of this size; absent or null for any. */
  readonly size?: number | null;
}

/** One leaf per hash, in their order; or, past the quota, no leaf and nothing counted. `used` is of the quota, if there is one. */
export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly leaves: readonly Leaf[]; readonly used?: number }
  | { readonly kind: 'over_quota'; readonly used: number; readonly requested: number };

/** Name, key and chain of a log. Written once, at the first start. */
export interface LogIdentity {
  /** The checkpoint's origin and note name. */
  readonly origin: string;
  readonly chainId: number;
  /** Base64url. */
  readonly publicKey: string;
}

export interface TreeHead {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** A signed checkpoint. Its note repeats the head, with origin and signatures. */
export interface StoredCheckpoint extends TreeHead {
  readonly note: string;
}

/** A hash tile (C2SP tlog-tiles). `hashes` is 32 to 8,192 bytes, and grows until the tile is full. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** Seconds after its posting for which every checkpoint before it is kept. */
export const CHECKPOINT_SECONDS = 30 * 86_400;

/** The right to lead, which one process has for a time. A new holder gets a greater epoch. */
export interface Lease {
  readonly epoch: number;
}

export interface Advance {
  readonly epoch: number;
  readonly from: TreeHead;
  readonly to: TreeHead;
  /** Every tile that the leaves [from.size, to.size) created or extended. */
  readonly tiles: readonly Tile[];
}

/** `fenced`: the lease has passed to another process, or the tree is no longer at `from`. Nothing was written. */
export type Fenced = 'fenced';

export type PostingState = 'queued' | 'broadcast' | 'confirmed' | 'finalized';

/** A root on its way to the chain. Times are unix seconds. */
export interface ChainPosting extends TreeHead {
  /** Number of the posting, from 1. */
  readonly sequence: number;
  /** The scheduled time: every leaf with `batchAt` up to this has an index below `size`. */
  readonly batchAt: number;
  readonly state: PostingState;
  /** The account's nonce in all its attempts. */
  readonly nonce: number;
  /** Its place on the chain: null until confirmed, and again after a reorganisation. */
  readonly place: PostingPlace | null;
  /** When its block was seen to be final; null before. */
  readonly finalizedAt: number | null;
}

export interface PostingPlace {
  /** `0x` and 64 hex. */
  readonly txHash: string;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** The block's own timestamp. */
  readonly blockTime: number;
}

/** One signed transaction of a posting. Of the attempts with one nonce, the chain takes at most one. */
export interface PostingAttempt {
  readonly sequence: number;
  readonly nonce: number;
  readonly txHash: string;
  /** The signed raw transaction, `0x` hex. Sending it again has no further effect. */
  readonly raw: string;
  /** Wei for each unit of gas, decimal. */
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly createdAt: number;
}

/**
 * The anchor log's leaves, tiles, checkpoints and postings. Durability, ordering and errors are those of `Store`.
 * Leaves: `accept` calls share transactions (group commit). Indexes are contiguous from 0 over all processes, a hash
 * has one leaf for ever, and nothing deletes or moves one.
 * Fence: `advance` compares and swaps the durable head under the lease's epoch, so the tree never forks. Every write
 * that names an epoch is `fenced` once another process holds the lease, whatever the caller's clock says. A write whose
 * outcome is unknown can be repeated: it returns the same and changes nothing more. After a repeated `addAttempt` or
 * `queuePosting` a posting keeps its place, and only the newest `movePosting` can be repeated.
 */
export interface LogStore {
  /** Stores the identity at the first call. Returns the one that is stored. */
  claimIdentity(identity: LogIdentity): Promise<LogIdentity>;

  /** The identity that is stored; null before the first claim. */
  identity(): Promise<LogIdentity | null>;

  /** Accepts hashes and gives each new one a leaf. @throws unavailable also when too many hashes wait */
  accept(request: AcceptRequest): Promise<AcceptOutcome>;
  findLeaf(hash: Uint8Array): Promise<Leaf | null>;
  /** The index of the leaf of each of the hashes, 32 bytes each, null where it has none: in their order. Reads a page at a time. */
  indexesOf(hashes: readonly Uint8Array[]): Promise<(number | null)[]>;
  getLeaf(index: number): Promise<Leaf | null>;
  /** The hashes of the leaves [from, to), 32 bytes each, concatenated; fewer where the log ends before `to`. */
  readLeaves(from: number, to: number): Promise<Uint8Array>;
  /** Leaves with their postings, newest first. */
  listLeaves(page: LeafPage): Promise<ListedLeaf[]>;
  /**
   * For each time, in unix seconds, the index of the first leaf that is scheduled for it or later; the number of leaves
   * if none is.
   */
  firstLeavesAt(times: readonly number[]): Promise<number[]>;
  /** For each range, the number of the hashes in an account's list, or in a key's part of it, whose index is in it. */
  countAnchors(
    list: Pick<LeafPage, 'key'> & { readonly owner: string },
    ranges: readonly Pick<LeafPage, 'from' | 'before'>[],
  ): Promise<number[]>;
  /** The number of accepted leaves. */
  countLeaves(): Promise<number>;

  /**
   * Takes or renews the lease for `ttl` seconds (fractions allowed) by the database's clock. The present holder always
   * gets it, another one only after it has run out. Null while another holds it.
   */
  acquireLease(holder: string, ttl: number): Promise<Lease | null>;
  /** Ends the lease if `holder` has it; its epoch is fenced from then on. */
  releaseLease(holder: string): Promise<void>;

  /** The durable head, which may not be signed yet. At first it has size 0 and the empty root. */
  head(): Promise<TreeHead>;
  /**
   * Writes the tiles and moves the head, in one transaction, if the lease has this epoch and the head is `from`. Does
   * nothing if the head is `to` already. The transaction is rolled back if `to` is not a larger tree of accepted
   * leaves.
   * @throws log_corrupted when a tile would change a stored hash
   */
  advance(advance: Advance): Promise<'advanced' | Fenced>;
  /**
   * Stores the signed checkpoint of the present head, or replaces the note of a stored checkpoint by one with more
   * signatures, even after the head has moved. `fenced` also for the checkpoint of any other tree.
   */
  putCheckpoint(epoch: number, checkpoint: StoredCheckpoint): Promise<'stored' | Fenced>;
  /** The newest signed checkpoint; null before the first, which is of the empty tree unless leaves came sooner. */
  newestCheckpoint(): Promise<StoredCheckpoint | null>;
  getCheckpoint(size: number): Promise<StoredCheckpoint | null>;
  /** The largest signed checkpoint of at most `size` leaves; null where there is none. */
  checkpointWithin(size: number): Promise<StoredCheckpoint | null>;
  /** The smallest signed checkpoint of more than `size` leaves; null where there is none. */
  checkpointAfter(size: number): Promise<StoredCheckpoint | null>;
  /** Yields the signed checkpoints by size. Reads a page at a time. */
  listCheckpoints(): AsyncIterable<StoredCheckpoint>;
  /**
   * Deletes at most `limit` checkpoints that no posting has put on the chain, of trees smaller than that of the last posting scheduled
   * before `before`, in unix seconds; how many they were. The newest checkpoint is never one of them.
   */
  purgeCheckpoints(before: number, limit: number): Promise<number>;
  /** The stored hashes of a tile; null where there are none. */
  getTile(level: number, index: number): Promise<Uint8Array | null>;
  /**
   * Stores the keys of witnesses for good, so that their cosignatures can be checked after they have left the
   * configuration. A stored key is not changed.
   */
  rememberWitnesses(witnesses: readonly VerifierKey[]): Promise<void>;
  /** Every witness whose key is stored, by name. */
  listWitnesses(): Promise<VerifierKey[]>;

  /** Yields all tiles by level and index. Reads a page at a time. */
  listTiles(): AsyncIterable<Tile>;

  /**
   * Closes every batch up to `batchAt`: a leaf accepted from then on gets a `batchAt` of at least `next`, which must be
   * greater. Returns the number of leaves accepted by then.
   */
  closeBatch(epoch: number, batchAt: number, next: number): Promise<number | Fenced>;
  /**
   * Stores a posting in state `queued` with its first attempt. Its sequence must follow the newest one's, and its tree
   * must be larger.
   */
  queuePosting(
    epoch: number,
    posting: Pick<ChainPosting, 'sequence' | 'batchAt' | 'size' | 'root' | 'nonce'>,
    attempt: PostingAttempt,
  ): Promise<'queued' | Fenced>;
  /** Stores one more attempt. The posting gets its nonce, state `queued` and no place. */
  addAttempt(epoch: number, attempt: PostingAttempt): Promise<'added' | Fenced>;
  /** Moves a posting to a state, with the `place` and `finalizedAt` of that state. */
  movePosting(
    epoch: number,
    sequence: number,
    to: Pick<ChainPosting, 'state' | 'place' | 'finalizedAt'>,
  ): Promise<'moved' | Fenced>;
  newestPosting(): Promise<ChainPosting | null>;
  /**
   * For each time, in unix seconds, the sequence of the first posting that was scheduled for it or later; the next free
   * sequence if none was.
   */
  firstPostingsAt(times: readonly number[]): Promise<number[]>;
  /** Postings, newest first. */
  pageOfPostings(page: PostingPage): Promise<ChainPosting[]>;
  /** The first posting whose tree holds the leaf, or null. */
  postingOf(leafIndex: number): Promise<ChainPosting | null>;
  /** Yields the postings by sequence. Reads a page at a time. */
  listPostings(): AsyncIterable<ChainPosting>;
  /** All attempts of a posting, oldest first. */
  listAttempts(sequence: number): Promise<PostingAttempt[]>;
}
