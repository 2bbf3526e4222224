import { concatBytes, nextStreamHead, streamStart } from '@tallystick/core';
import { type NewReceipt, nodeSha256 } from '@tallystick/kit';
import { tenantAccount } from '@tallystick/ledger';
import type { StreamRound, StreamRow } from '@tallystick/receipts';
import type { Work } from './database-work.ts';
import type { ReceiptTables } from './receipt-tables.ts';

/**
 * Adds stored receipts to their streams, inside the transaction that stores them: one row a stream. A receipt that belongs
 * to nobody costs nothing here, and one of an account without a stream only its share of one look-up.
 */
export function* advanceStreams(tables: ReceiptTables, stored: readonly NewReceipt[]): Work<void> {
  const chained = stored.filter(({ anchored }) => anchored !== undefined);
  const ofTenants = Map.groupBy(chained, ({ tenant }) => (tenant === null ? '' : tenantAccount(tenant)));
  const owned = ofTenants.get('') ?? [];
  ofTenants.delete('');
  const ofOwners = Map.groupBy(owned, ({ owner }) => owner ?? '');
  ofOwners.delete('');
  // Tenants' streams are locked before other accounts', in each transaction.
  const streams = [
    ...(ofTenants.size === 0 ? [] : yield* tables.holdStreams([...ofTenants].map(startOf))),
    ...(ofOwners.size === 0 ? [] : yield* tables.lockStreams([...ofOwners.keys()])),
  ];
  const known = new Map(streams.map((stream) => [stream.id, stream]));
  for (const [id, receipts] of ofTenants) if (!known.has(id)) known.set(id, startOf([id, receipts]));
  const rounds: StreamRound[] = [];
  const advanced: StreamRow[] = [];
  for (const stream of known.values()) {
    const receipts = ofTenants.get(stream.id) ?? ofOwners.get(stream.id) ?? [];
    const hashes = receipts.flatMap(({ anchored }) => anchored?.() ?? []);
    rounds.push({ stream: stream.id, first: stream.size + 1, hashes: concatBytes(...hashes) });
    const head = hashes.reduce((one, hash) => nextStreamHead(one, hash, nodeSha256), stream.head);
    advanced.push({ ...stream, size: stream.size + hashes.length, head });
  }
  yield* tables.addStreamRounds(rounds);
  yield* tables.putStreams(advanced);
}

/** A stream that begins with these receipts. */
function startOf([id, receipts]: readonly [string, readonly NewReceipt[]]): StreamRow {
  const since = Math.min(...receipts.map(({ issuedAt }) => issuedAt));
  return { id, since, size: 0, head: streamStart(id, nodeSha256) };
}
