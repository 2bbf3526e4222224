import { setImmediate } from 'node:timers/promises';
import type { RoomPlace, RoomReceipt, RoomWindow, TenantStore } from '@tallystick/callers';
import {
  canonicalBytes,
  canonicalize,
  familyOf,
  type JsonObject,
  type JsonValue,
  meteringDigest,
  toHex,
} from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import type { AnchorLog } from '@tallystick/log';
import type { StreamStore } from '../streams/stream-store.ts';
import { DAY, ROOM_DAYS } from './room.ts';

/** The data that parts are read from, at one point in time. */
export interface RoomView {
  readonly store: { readonly tenants: TenantStore; readonly streams: StreamStore };
  readonly log: Pick<AnchorLog, 'anchored'>;
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
  /** Unix seconds at which each of them leaves the room. */
  readonly leaving: readonly number[];
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
  for (let from = 0; from < receipts.length; from += PAGE) {
    const page = receipts.slice(from, from + PAGE);
    const documents = page.map(({ body }) => JSON.parse(body) as JsonObject);
    const hashes = documents.map(anchoredHashOf);
    const found = await view.log.anchored(hashes, view.anchoredSize);
    const anchorLines = page.map(({ id: receipt_id }, index) => {
      const anchor = (found[index] ?? null) as JsonValue;
      return canonicalize({ receipt_id, receipt_sha256: toHex(hashes[index] ?? NONE), anchor });
    });
    // Kept as bytes, since many texts made of many pieces take much more memory.
    anchors.push(lines(anchorLines));
    anchored += found.filter((anchor) => anchor !== null).length;
    metering.push(...documents.map(meteringDigest).filter((digest) => digest !== null));
    await setImmediate();
  }
  return {
    first,
    last,
    count: receipts.length,
    anchored,
    metering: metering.length,
    leaving: receipts.map(({ issuedAt, expiresAt }) => Math.min(expiresAt, issuedAt + ROOM_DAYS * DAY)),
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

const NONE = new Uint8Array();

function anchoredHashOf(receipt: JsonObject): Uint8Array {
  const family = familyOf(receipt);
  if (family === null) throw new Error('A receipt in the room is of no known family.');
  return nodeSha256(canonicalBytes(family.anchored(receipt)));
}

function lines(texts: readonly string[]): Uint8Array {
  return Buffer.from(texts.map((text) => `${text}\n`).join(''));
}
