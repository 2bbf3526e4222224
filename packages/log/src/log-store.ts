import type { VerifierKey } from '@tallystick/core';

/** A hash's place in the log. Times are unix seconds. */
export interface Leaf {
  /** From 0, contiguous. */
  readonly index: number;
  /** 32 bytes, as accepted; the leaf hash is SHA-256(0x00 || hash). */
  readonly hash: Uint8Array;
  /** The posting it is scheduled for. Never falls as indexes rise. */
  readonly batchAt: number;
}

export interface AcceptRequest {
  /** 32 bytes each. The same hash twice gets the same leaf. */
  readonly hashes: readonly Uint8Array[];
  /** When the next posting is scheduled; a leaf gets a later one where that batch is closed already. */
  readonly batchAt: number;
  /** Counts the hashes that the log did not have. Null where there is no limit. */
  readonly quota: { readonly counter: string; readonly limit: number; readonly expiresAt: number } | null;
}

/** One leaf per hash, in their order; or, past the quota, nothing placed and nothing counted. */
export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly leaves: readonly Leaf[] }
  | { readonly kind: 'over_quota'; readonly used: number; readonly wanted: number };

/** Whose log this is. Written once, at the first start. */
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

/** A signed checkpoint: its note text holds the head again, with origin and signatures. */
export interface StoredCheckpoint extends TreeHead {
  readonly note: string;
}

/** A hash tile (C2SP tlog-tiles): `hashes` is 32 to 8,192 bytes, and grows until it is full. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** Held by one process at a time, for a while. A new holder gets a greater epoch. */
export interface Lease {
  readonly epoch: number;
}

export interface Advance {
  readonly epoch: number;
  readonly from: TreeHead;
  readonly to: TreeHead;
  /** Every tile that the leaves [from.size, to.size) made or lengthened. */
  readonly tiles: readonly Tile[];
}

/** `fenced`: the lease has passed to another process, or the tree is no longer at `from`. Nothing was written. */
export type Fenced = 'fenced';

export type PostingState = 'queued' | 'broadcast' | 'confirmed' | 'finalized';

/** A root on its way to the chain. Times are unix seconds. */
export interface ChainPosting extends TreeHead {
  /** From 1, one for each posting. */
  readonly sequence: number;
  /** The scheduled time: every leaf with `batchAt` at most this is below `size`. */
  readonly batchAt: number;
  readonly state: PostingState;
  /** The account's nonce that its attempts use. */
  readonly nonce: number;
  /** Where it is on the chain, while it is: null until confirmed, and again after a reorganisation. */
  readonly place: PostingPlace | null;
  /** When finality was seen; null before. */
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

/** One signed transaction of a posting. All of one posting with the same nonce exclude each other. */
export interface PostingAttempt {
  readonly sequence: number;
  readonly nonce: number;
  readonly txHash: string;
  /** The signed raw transaction, `0x` hex: sending it again changes nothing. */
  readonly raw: string;
  /** Wei for each unit of gas, decimal. */
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly createdAt: number;
}

/**
 * The anchor log's leaves, tiles, checkpoints and postings. Durability, ordering and errors are those of `Store`.
 *
 * Leaves: `accept` calls share transactions (group commit). Indexes are contiguous from 0 over all processes, a hash
 * has one leaf for ever, and nothing deletes or moves one.
 *
 * Fence: the tree only ever grows along one line. `advance` swaps the durable head under the lease's epoch; all writes
 * that name an epoch are `fenced` once another process holds the lease, whatever the clock of the caller says.
 * Repeating such a write, because it is not known whether it was carried out, answers the same and changes nothing;
 * but `addAttempt` and `queuePosting` leave a posting where it is, and only the newest `movePosting` can be repeated.
 */
export interface LogStore {
  /** Stores the identity at the first call, and answers the one that is stored. */
  claimIdentity(identity: LogIdentity): Promise<LogIdentity>;

  /** The identity that is stored; null before the first claim. */
  identity(): Promise<LogIdentity | null>;

  /** @throws unavailable also when too many hashes wait */
  accept(request: AcceptRequest): Promise<AcceptOutcome>;
  findLeaf(hash: Uint8Array): Promise<Leaf | null>;
  /** Whether each of the hashes, 32 bytes each, has a leaf: in their order. Reads a page at a time. */
  haveLeaves(hashes: readonly Uint8Array[]): Promise<boolean[]>;
  getLeaf(index: number): Promise<Leaf | null>;
  /** The hashes of the leaves [from, to), 32 bytes each, in one piece; fewer where the log ends before `to`. */
  readLeaves(from: number, to: number): Promise<Uint8Array>;
  /** How many leaves are accepted. */
  countLeaves(): Promise<number>;

  /**
   * Takes or renews the lease for `ttl` seconds by the database's clock: the present holder always, another one once
   * it has run out. Null while another holds it. `ttl` may have fractions.
   */
  acquireLease(holder: string, ttl: number): Promise<Lease | null>;
  /** Lets go of the lease if `holder` has it; its epoch is fenced from then on. */
  releaseLease(holder: string): Promise<void>;

  /** The durable head, which may not be signed yet; size 0 and the empty root at first. */
  head(): Promise<TreeHead>;
  /**
   * Writes the tiles and moves the head, in one transaction, when the lease has this epoch and the head is `from`; or
   * does nothing when it is `to` already. Undone where `to` is no larger tree of accepted leaves.
   * @throws log_corrupted, undone, when a tile would change a hash that is stored
   */
  advance(advance: Advance): Promise<'advanced' | Fenced>;
  /**
   * Stores the signed checkpoint of the present head; or, of a checkpoint that is stored, replaces the note by one with
   * more signatures, also once the head has moved on. `fenced` also when it is neither's tree.
   */
  putCheckpoint(epoch: number, checkpoint: StoredCheckpoint): Promise<'stored' | Fenced>;
  /** The newest signed checkpoint, or null before the first, which is of the empty tree unless leaves came sooner. */
  newestCheckpoint(): Promise<StoredCheckpoint | null>;
  getCheckpoint(size: number): Promise<StoredCheckpoint | null>;
  /** The signed checkpoints in the order of their sizes, a page at a time. */
  listCheckpoints(): AsyncIterable<StoredCheckpoint>;
  /** What is stored of a tile; null where there is none. */
  getTile(level: number, index: number): Promise<Uint8Array | null>;
  /**
   * Keeps the keys of witnesses with the log, for good: they are what their cosignatures are checked by after they have
   * left the configuration. A key that is kept already stays.
   */
  rememberWitnesses(witnesses: readonly VerifierKey[]): Promise<void>;
  /** Every witness whose key is kept, by name. */
  listWitnesses(): Promise<VerifierKey[]>;

  /** All tiles, by level and index, a page at a time. */
  listTiles(): AsyncIterable<Tile>;

  /**
   * Closes every batch up to `batchAt`: a leaf accepted from then on gets a `batchAt` of at least `next`, which must be
   * greater. Answers how many leaves are accepted by then.
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
  /** Stores one more attempt; the posting takes its nonce and state `queued`, without a place. */
  addAttempt(epoch: number, attempt: PostingAttempt): Promise<'added' | Fenced>;
  /** Moves a posting to a state; `place` and `finalizedAt` as the state has them. */
  movePosting(
    epoch: number,
    sequence: number,
    to: Pick<ChainPosting, 'state' | 'place' | 'finalizedAt'>,
  ): Promise<'moved' | Fenced>;
  newestPosting(): Promise<ChainPosting | null>;
  /** The newest first, at most so many. */
  recentPostings(count: number): Promise<ChainPosting[]>;
  /** The first posting whose tree holds the leaf, or null. */
  postingOf(leafIndex: number): Promise<ChainPosting | null>;
  /** In the order of their sequences, a page at a time. */
  listPostings(): AsyncIterable<ChainPosting>;
  /** All attempts of a posting, oldest first. */
  listAttempts(sequence: number): Promise<PostingAttempt[]>;
}
