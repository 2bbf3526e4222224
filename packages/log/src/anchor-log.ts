import type { AnchoredResult } from '@tallystick/core';
import type { AcceptRequest, Leaf } from './log-store.ts';

/** Specification 2.9. */
interface PendingResult {
  readonly anchor_ref: string;
  readonly batch_id: string;
  /** Seconds until the batch is posted; 0 when that is overdue. */
  readonly eta_seconds: number;
}

export type AnchorResult = PendingResult | AnchoredResult;

/**
 * The state of each hash, in the order of the hashes, once all are accepted, or none where the quota does not suffice; and
 * how much of the quota is used, if there is one.
 */
type AnchorOutcome =
  | { readonly kind: 'accepted'; readonly results: readonly AnchorResult[]; readonly used?: number }
  | { readonly kind: 'over_quota'; readonly used: number; readonly requested: number };

export interface LogStatus {
  readonly origin: string;
  readonly accepted: number;
  /** Size of the newest signed checkpoint, 0 before the first. */
  readonly treeSize: number;
  /** Size of the newest tree whose root is final on the chain. */
  readonly anchoredSize: number;
  /** Unix seconds of the next scheduled posting. */
  readonly nextPostingAt: number;
  /** Seconds since the scheduled posting of the oldest hash that is not anchored; 0 when none is overdue. */
  readonly overdueSeconds: number;
  /**
   * Seconds since the oldest hash that is not anchored was accepted, at most: since the period began at whose end it is
   * to be posted. 0 when all are anchored.
   */
  readonly oldestUnanchoredSeconds: number;
  /** `ok`, or why no hashes are accepted. */
  readonly accepting: string;
  /** `ok`, or why this process, the leader, cannot post; always `ok` in the other processes, which do not know. */
  readonly posting: string;
  /** Whether this process is the leader. */
  readonly leading: boolean;
}

/** The anchor log as routes use it. */
export interface AnchorLog {
  readonly origin: string;
  /**
   * Accepts hashes of 32 bytes each. They are durable and have their indexes when it resolves.
   * @param list whose list of anchored hashes they enter; nobody's when absent
   * @throws anchor_unavailable, unavailable
   */
  accept(
    hashes: readonly Uint8Array[],
    quota: AcceptRequest['quota'],
    list?: Pick<AcceptRequest, 'owner' | 'key'>,
  ): Promise<AnchorOutcome>;
  /** Finds the leaf of a 32-byte hash. @throws anchor_not_found */
  find(hash: Uint8Array): Promise<Leaf>;
  /** Reads a leaf by its index. @throws anchor_not_found for an index that is not accepted */
  leaf(index: number): Promise<Leaf>;
  /** Tells whether a leaf is pending or under a final root, with its proof. */
  resolve(leaf: Leaf): Promise<AnchorResult>;
  /**
   * The results of those hashes, 32 bytes each, that are among the first `size` leaves and under a final root; null of the others. In
   * their order.
   */
  anchored(hashes: readonly Uint8Array[], size: number): Promise<(AnchoredResult | null)[]>;
  /** A C2SP tlog-proof of the leaf in the newest checkpoint that holds it. @throws anchor_not_found until one does */
  tlogProof(leaf: Leaf): Promise<string>;
  /** Hex roots and consistency path between two tree sizes. @throws merkle_range */
  consistency(from: number, to: number): Promise<readonly Uint8Array[]>;
  /** The newest signed checkpoint's note; null only before the first checkpoint. */
  checkpoint(): Promise<string | null>;
  /** The bytes of the tile at a C2SP tlog-tiles path (`tile/0/x001/234.p/5`, `tile/entries/000`); null where there is none. */
  tile(path: string): Promise<Uint8Array | null>;
  status(): Promise<LogStatus>;
  /** `ok`, or what is wrong, for `/readyz`. */
  ready(): Promise<string>;
  /** Stops signing and posting for good, and lets another process do it at once. */
  resign(): Promise<void>;
  /** Resigns as `resign` does, then waits for the steps that are under way. */
  close(): Promise<void>;
}
