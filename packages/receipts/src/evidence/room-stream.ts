import type { RoomWindow } from '@tallystick/callers';
import { CLOCK_SKEW, utf8 } from '@tallystick/core';
import { tenantAccount } from '@tallystick/ledger';
import { type HeadServices, signHead, signsHeads } from '../streams/heads.ts';
import { readHashes } from '../streams/read-stream.ts';
import type { StreamHeadRow, StreamStore } from '../streams/stream-store.ts';
import type { RequestedPeriod } from './room.ts';

/** Hashes of a stream, from the place `first` to the place `last`. */
export interface HashRange {
  readonly stream: string;
  readonly first: number;
  readonly last: number;
}

/** The part of a tenant's stream that belongs to a period. */
export interface RoomStream {
  /** JCS texts, from the head before the period to the first one after it, or to the last one within it where there is none. */
  readonly heads: readonly string[];
  readonly range: HashRange;
}

const LINES = 10_000;
const PAGE = 1_000;

/**
 * The head up to which a bundle proves a period. For a period up to now it is signed now, before the period ends, so that the bundle
 * has everything that it counts. For one that is over it is the first head after it, which counts everything in it, or the last
 * one if the stream has not grown since. Null where the tenant had no stream then, or the service has no key for heads.
 */
export async function newestHead(
  services: HeadServices,
  tenant: string,
  { to }: RequestedPeriod,
): Promise<StreamHeadRow | null> {
  const { store, issuer, clock } = services;
  const id = tenantAccount(tenant);
  const stream = await store.streams.get(id);
  if (stream === null) return null;
  if (to !== null && to <= Math.floor(clock() / 1000)) {
    const within = await store.streams.headBefore(id, to - 1, Number.MAX_SAFE_INTEGER);
    const [after] = await store.streams.heads(id, within?.sequence ?? 0, 1);
    return stream.since < to ? (after ?? within) : null;
  }
  return signsHeads(issuer) ? signHead(services, id) : null;
}

/** The heads and hashes of a window; null where there is no head in it. */
export async function streamOf(
  { store }: { readonly store: { readonly streams: StreamStore } },
  { newest, window }: { readonly newest: StreamHeadRow | null; readonly window: RoomWindow },
): Promise<RoomStream | null> {
  if (newest === null || newest.at < window.from) return null;
  const { stream } = newest;
  const before = await store.streams.headBefore(stream, window.from - CLOCK_SKEW, Number.MAX_SAFE_INTEGER);
  const heads: string[] = [];
  for (let after = (before?.sequence ?? 1) - 1; after < newest.sequence; ) {
    const page = await store.streams.heads(stream, after, PAGE);
    heads.push(...page.filter(({ sequence }) => sequence <= newest.sequence).map(({ body }) => body));
    after = page.at(-1)?.sequence ?? newest.sequence;
  }
  return { heads, range: { stream, first: (before?.size ?? 0) + 1, last: newest.size } };
}

/** The lines of one file of hashes; `number` counts from 1. Empty past the last. */
export async function hashLines(
  streams: StreamStore,
  { stream, first, last }: HashRange,
  number: number,
): Promise<Uint8Array> {
  const begin = first + (number - 1) * LINES;
  const end = Math.min(last, begin + LINES - 1);
  let index = begin;
  let text = '';
  for await (const sha256 of readHashes(streams, stream, { first: begin, last: end })) {
    text += `{"index":${index},"sha256":"${sha256}"}\n`;
    index += 1;
  }
  return utf8(text);
}
