import {
  formatTimestamp,
  fromHex,
  sha256Hex,
  signStreamHead,
  streamStart,
  TallyError,
  toHex,
  utf8,
} from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { AnchorLog } from '@tallystick/log';
import type { StreamHeadRow, StreamRow, StreamStore } from './stream-store.ts';

/** Services that sign heads. */
export interface HeadServices {
  readonly store: { readonly streams: StreamStore };
  readonly issuer: OwnIssuer;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly clock: () => number;
}

const ATTEMPTS = 5;

/** Whether the keyring has a key for heads: one that was made by an earlier release has none until one is added. */
export function signsHeads({ keyring }: OwnIssuer): boolean {
  return keyring.document.keys.some(({ purpose, state }) => purpose === 'head' && state === 'active');
}

/** Opens the stream of an account, which counts every receipt from the next second on. */
export function openStream(
  { store, clock }: Pick<HeadServices, 'store' | 'clock'>,
  id: string,
): Promise<void> {
  const since = Math.floor(clock() / 1000) + 1;
  return store.streams.open({ id, since, size: 0, head: streamStart(id) });
}

/**
 * Signs a head of a stream as it is now, and places its hash in the log.
 * @throws stream_not_found; unavailable without a key for heads, or while other processes sign heads again and again;
 * anchor_unavailable
 */
export async function signHead(services: HeadServices, id: string): Promise<StreamHeadRow> {
  const { store, issuer, log, clock } = services;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await store.streams.newestHead(id);
    const stream = await requireStream(services, id);
    const row = await headAfter(before, stream, { issuer, now: clock() });
    // In the log first: a head that is stored is in it, whatever fails.
    await log.accept([fromHex(sha256Hex(utf8(row.body)), 32)], null);
    if ((await store.streams.putHead(row)) === 'stored') return row;
  }
  throw new TallyError('unavailable', 'Other processes sign heads of this stream. Try again.');
}

/** @throws stream_not_found */
export async function requireStream({ store }: Pick<HeadServices, 'store'>, id: string): Promise<StreamRow> {
  const stream = await store.streams.get(id);
  if (stream !== null) return stream;
  throw new TallyError('stream_not_found', 'No stream of these receipts was opened yet.');
}

async function headAfter(
  before: StreamHeadRow | null,
  { id, since, size, head }: StreamRow,
  { issuer, now }: { readonly issuer: OwnIssuer; readonly now: number },
): Promise<StreamHeadRow> {
  const facts = {
    stream: id,
    count: size,
    head: toHex(head),
    since: formatTimestamp(since * 1000),
    previous_sha256: before && sha256Hex(utf8(before.body)),
  };
  // Two processes' clocks may differ: a head is never dated before the one that it follows.
  const at = Math.max(Math.floor(now / 1000), before?.at ?? 0);
  const body = await signStreamHead(facts, { did: issuer.did, at: at * 1000 }, issuer.signer('head'));
  return { stream: id, sequence: (before?.sequence ?? 0) + 1, size, at, body };
}

const DAY = 86_400;

/**
 * Signs a head of every stream that has grown since its newest one, if that is a day old.
 * @throws what the first stream failed with, once the others are done
 */
export async function signDailyHeads(services: HeadServices): Promise<void> {
  if (!signsHeads(services.issuer)) return;
  const now = Math.floor(services.clock() / 1000);
  const failures: unknown[] = [];
  const signIfDue = async (id: string): Promise<void> => {
    const newest = await services.store.streams.newestHead(id);
    if (newest === null || Math.floor(newest.at / DAY) < Math.floor(now / DAY)) await signHead(services, id);
  };
  for await (const { id } of services.store.streams.grown())
    await signIfDue(id).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
