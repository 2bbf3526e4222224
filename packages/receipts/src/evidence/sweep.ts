import { setImmediate } from 'node:timers/promises';
import type { DepartedReceipt, RoomPlace, TenantRow, TenantStore } from '@tallystick/callers';
import {
  CompactRange,
  type EvidencePlace,
  formatTimestamp,
  leafHash,
  signPurge,
  TallyError,
  toHex,
  utf8,
} from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import { nodeSha256 } from '@tallystick/kit';
import { DAY, departures } from './room.ts';

interface Sweeping {
  readonly store: { readonly tenants: TenantStore };
  readonly issuer: OwnIssuer;
  readonly clock: () => number;
}

const PAGE = 500;
const ATTEMPTS = 5;
/** Days for which a bundle is listed among the exports: as long as a receipt is in the room. */
const EXPORT_DAYS = 365;

/** Sweeps every room that was not swept for a day, and deletes expired exports. `now`: Unix milliseconds. */
export async function sweepRooms(context: Sweeping, now: number): Promise<void> {
  const asOf = Math.floor(now / 1000);
  for await (const { id, sweptTo } of context.store.tenants.list()) {
    if (asOf - sweptTo >= DAY) await sweepRoom(context, id, asOf);
  }
  while ((await context.store.tenants.purgeExports(asOf, asOf - EXPORT_DAYS * DAY)) > 0);
}

/**
 * Signs a record of all receipts that left a tenant's room until `asOf` (Unix seconds), if there are any: each receipt that
 * leaves is in exactly one record.
 * @throws tenant_not_found; unavailable when other processes sweep the room at the same time again and again
 */
export async function sweepRoom(context: Sweeping, tenant: string, asOf: number): Promise<void> {
  const { tenants } = context.store;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await tenants.get(tenant);
    if (row === null) throw new TallyError('tenant_not_found', 'There is no such tenant.');
    if (row.sweptTo >= asOf) return;
    const before = await tenants.newestPurge(tenant);
    const left = await countDeparted(context.store, row, asOf);
    if (left === null) return tenants.markSwept(tenant, asOf);
    const sequence = (before?.sequence ?? 0) + 1;
    const body = await signPurge(
      {
        tenant,
        sequence,
        purged_at: formatTimestamp(asOf * 1000),
        ...left,
        previous: before && toHex(nodeSha256(utf8(before.body))),
      },
      { did: context.issuer.did, issuedAt: context.clock() },
      context.issuer.signer('bundle'),
    );
    if ((await tenants.putPurge(tenant, { sequence, body }, asOf)) === 'stored') return;
  }
  throw new TallyError('unavailable', 'Another process is sweeping the room. Try again.');
}

interface Departed {
  readonly count: number;
  readonly profiles: Readonly<Record<string, number>>;
  readonly first: EvidencePlace;
  readonly last: EvidencePlace;
  readonly ids_root: string;
}

/** The receipts that left since the last sweep: first the profiles that stay longest, within them in the order of the room. */
async function countDeparted(
  store: Sweeping['store'],
  { id: tenant, sweptTo }: TenantRow,
  asOf: number,
): Promise<Departed | null> {
  const range = new CompactRange(undefined, nodeSha256);
  const profiles: Record<string, number> = {};
  let first: RoomPlace | null = null;
  let last: RoomPlace | null = null;
  for await (const receipt of departed(store, tenant, { since: sweptTo, asOf })) {
    range.append(leafHash(utf8(receipt.id), nodeSha256));
    profiles[receipt.profile] = (profiles[receipt.profile] ?? 0) + 1;
    first ??= receipt;
    last = receipt;
  }
  if (first === null || last === null) return null;
  return {
    count: range.size,
    profiles,
    first: placeOf(first),
    last: placeOf(last),
    ids_root: toHex(range.root()),
  };
}

/** The receipts that left a room between two times, in Unix seconds: first the profiles that stay longest, within them in the order of the room. */
export async function* departed(
  { tenants }: Sweeping['store'],
  tenant: string,
  { since, asOf }: { readonly since: number; readonly asOf: number },
): AsyncGenerator<DepartedReceipt, void, undefined> {
  for (const window of departures(since, asOf)) {
    for (let after: RoomPlace | null = null; ; ) {
      const page: DepartedReceipt[] = await tenants.departed(tenant, window, after, PAGE);
      yield* page;
      after = page.at(-1) ?? null;
      if (page.length < PAGE) break;
      await setImmediate();
    }
  }
}

/** A position in the room, as documents state it. */
export function placeOf({ id, issuedAt }: RoomPlace): EvidencePlace {
  return { receipt_id: id, at: formatTimestamp(issuedAt * 1000) };
}
