import type { ReceiptRow } from '@tallystick/kit';
import type { ApiKeyRow } from './api-key-store.ts';

/** Times are unix seconds, here as in all rows. */
export interface TenantRow {
  /** `t_` and 16 random base36 characters. */
  readonly id: string;
  readonly label: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** What left the room until then is recorded. */
  readonly sweptTo: number;
}

/** Where a receipt stands in its tenant's room: by its second, then by its id. */
export interface RoomPlace {
  readonly issuedAt: number;
  readonly id: string;
}

export interface RoomReceipt extends RoomPlace {
  readonly body: string;
  readonly expiresAt: number;
}

export interface DepartedReceipt extends RoomPlace {
  readonly profile: ReceiptRow['profile'];
}

/** Receipts issued in [from, to) that are still there; of a profile in `firstOf` only those issued from that second on. */
export interface RoomWindow {
  readonly from: number;
  readonly to: number;
  /** By profile: the first second of issue of receipts that leave the room sooner than others. */
  readonly firstOf: Readonly<Record<string, number>>;
}

/** Receipts of some profiles issued in [from, to). */
export interface DepartureWindow {
  readonly profiles: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** A signed record of what left a room. */
export interface PurgeRow {
  /** From 1 for each tenant, without a gap. */
  readonly sequence: number;
  /** JCS text. */
  readonly body: string;
}

export interface ExportRow {
  readonly tenant: string;
  /** By which its bytes can be asked for again; null for one of an earlier release, whose bytes can't. */
  readonly etag: string | null;
  readonly createdAt: number;
  readonly receiptId: string;
  /** Hex. */
  readonly manifestSha256: string;
  /** Of the period, half-open. */
  readonly from: number;
  readonly to: number;
  readonly receipts: number;
  readonly bytes: number;
  /** Until then the same bytes can be asked for again. */
  readonly resumableUntil: number;
}

/**
 * Tenants, their keys, and what the room of each needs. Every read and write names one tenant, and sees nothing of
 * another's. Durability, ordering and errors are those of `Store`.
 */
export interface TenantStore {
  /** @throws where the id is taken */
  put(row: TenantRow): Promise<void>;
  get(id: string): Promise<TenantRow | null>;
  /** Oldest first, a page at a time. */
  list(): AsyncIterable<TenantRow>;
  /** Stores a key that opens this tenant alone. Nothing is stored for a tenant that is unknown or revoked. */
  putKey(tenant: string, key: ApiKeyRow): Promise<'stored' | 'unknown' | 'revoked'>;
  /** The tenant that a key opens, or null. */
  ofKey(keyId: string): Promise<string | null>;
  /** The ids of a tenant's keys that are not revoked. */
  keysOf(tenant: string): Promise<string[]>;
  /** Revokes a tenant and every key of it, in one transaction. */
  revoke(id: string, at: number): Promise<'revoked' | 'already_revoked' | 'unknown'>;

  /** The next receipts in the order of the room, after a place; at most `limit`. */
  room(tenant: string, window: RoomWindow, after: RoomPlace | null, limit: number): Promise<RoomReceipt[]>;
  /** The next receipts of the window, purged ones too, in the order of the room, after a place; at most `limit`. */
  departed(
    tenant: string,
    window: DepartureWindow,
    after: RoomPlace | null,
    limit: number,
  ): Promise<DepartedReceipt[]>;

  newestPurge(tenant: string): Promise<PurgeRow | null>;
  /** Adds the record that follows the newest, and with it when the room was swept; `stale` where it has another. */
  putPurge(tenant: string, row: PurgeRow, sweptTo: number): Promise<'stored' | 'stale'>;
  /** Notes that nothing else left the room until then. */
  markSwept(tenant: string, sweptTo: number): Promise<void>;
  /** In their order, a page at a time. */
  listPurges(tenant: string): AsyncIterable<PurgeRow>;

  /** @param contents what is needed to write the same bytes again */
  putExport(row: ExportRow, contents: string): Promise<void>;
  /** An export that can be asked for again at `now`. */
  findExport(
    tenant: string,
    etag: string,
    now: number,
  ): Promise<(ExportRow & { readonly contents: string }) | null>;
  /** Oldest first, a page at a time. */
  listExports(tenant: string): AsyncIterable<ExportRow>;
  /** Forgets the contents that can't be asked for at `now`, and rows from before `before`; answers how many of both. */
  purgeExports(now: number, before: number, limit?: number): Promise<number>;
}
