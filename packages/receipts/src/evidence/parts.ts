import { setImmediate } from 'node:timers/promises';
import type { RoomPlace, RoomReceipt, RoomWindow, TenantStore } from '@tallystick/callers';
import {
  anchoredHash,
  canonicalize,
  fromHex,
  type JsonObject,
  type JsonValue,
  meteringDigest,
  TallyError,
} from '@tallystick/core';
import type { AnchorLog, AnchorResult } from '@tallystick/log';
import type { StreamStore } from '../streams/stream-store.ts';

/** The data that parts are read from, at one point in time. */
export interface RoomView {
  readonly store: { readonly tenants: TenantStore; readonly streams: StreamStore };
  readonly log: Pick<AnchorLog, 'find' | 'resolve'>;
  readonly tenant: string;
  readonly window: RoomWindow;
  /** Leaves from this index on count as not anchored, even if they were anchored since. */
  readonly anchoredSize: number;
}

/** Some of the receipts, and the files that they make in a bundle. */
export interface RoomPart {
  readonly first: RoomPlace;
  readonly last: RoomPlace;
  readonly count: number;
  readonly anchored: number;
  readonly metering: number;
  /** Unix seconds at which the first of them will be deleted. */
  readonly expiresAt: number;
  readonly receiptLines: Uint8Array;
  readonly anchorLines: Uint8Array;
  /** Empty if the part holds no metering receipt. */
  readonly meteringLines: Uint8Array;
}

const PART_RECEIPTS = 500;
const PART_BYTES = 1_048_576;
/** Receipts read at once. The number is small, since one receipt of the profile pq may be as large as a request. */
const PAGE = 50;

/** The part after a position, or null if there are no more receipts. The same receipts always make the same parts. */
export async function readPart(view: RoomView, after: RoomPlace | null): Promise<RoomPart | null> {
  const receipts = await readReceipts(view, after);
  const [first, last] = [receipts.at(0), receipts.at(-1)];
  if (first === undefined || last === undefined) return null;
  const anchors: Uint8Array[] = [];
  const metering: string[] = [];
  let anchored = 0;
  for (const [index, { id, body }] of receipts.entries()) {
    const document = JSON.parse(body) as JsonObject;
    const receipt_sha256 = anchoredHash(document);
    const anchor = (await anchorOf(view, fromHex(receipt_sha256, 32))) as JsonValue;
    if (anchor !== null) anchored += 1;
    // Kept as bytes, since many texts made of many pieces take much more memory.
    anchors.push(lines([canonicalize({ receipt_id: id, receipt_sha256, anchor })]));
    const digest = meteringDigest(document);
    if (digest !== null) metering.push(digest);
    if (index % PAGE === PAGE - 1) await setImmediate();
  }
  return {
    first,
    last,
    count: receipts.length,
    anchored,
    metering: metering.length,
    expiresAt: Math.min(...receipts.map(({ expiresAt }) => expiresAt)),
    receiptLines: lines(receipts.map(({ body }) => body)),
    anchorLines: Buffer.concat(anchors),
    meteringLines: lines(metering),
  };
}

async function readReceipts(
  { store, tenant, window }: RoomView,
  after: RoomPlace | null,
): Promise<RoomReceipt[]> {
  const receipts: RoomReceipt[] = [];
  let bytes = 0;
  for (let place = after; ; ) {
    const page = await store.tenants.room(tenant, window, place, PAGE);
    for (const receipt of page) {
      bytes += Buffer.byteLength(receipt.body);
      receipts.push(receipt);
      if (receipts.length === PART_RECEIPTS || bytes >= PART_BYTES) return receipts;
    }
    place = page.at(-1) ?? null;
    if (page.length < PAGE) return receipts;
  }
}

async function anchorOf({ log, anchoredSize }: RoomView, hash: Uint8Array): Promise<AnchorResult | null> {
  try {
    const leaf = await log.find(hash);
    if (leaf.index >= anchoredSize) return null;
    const result = await log.resolve(leaf);
    return 'merkle_root' in result ? result : null;
  } catch (error) {
    if (error instanceof TallyError && error.code === 'anchor_not_found') return null;
    throw error;
  }
}

function lines(texts: readonly string[]): Uint8Array {
  return Buffer.from(texts.map((text) => `${text}\n`).join(''));
}
