import {
  type AnchorAuthority,
  type AnchorHistory,
  canonicalize,
  copyJson,
  formatTimestamp,
  type Payee,
  type TrustBundle,
} from '@tallystick/core';
import { type DocumentStore, ownDocument } from '@tallystick/kit';

const ANCHORS = 'anchors';
/** An account counts from this long before it was taken up, because a chain's clock may be behind the service's. */
const EARLY_MS = 300_000;
/** An account counts this long after it was replaced, because a posting that it had sent may be mined later. */
const IN_FLIGHT_MS = 7 * 86_400_000;

/** The service's log, chain and payees, as they are stored. */
interface Recorded extends AnchorAuthority {
  /** Since when the log and the account count; null where nobody recorded it. */
  readonly since?: { readonly log: string | null; readonly chain: string | null };
  /** Leaves with which the log ended, once its operator has said so. */
  readonly last_size?: number | null;
}

/** When one log or account took the place of another, in Unix milliseconds; null for an unknown time before `until`. */
interface Moment {
  readonly from: number | null;
  readonly until: number;
}

/**
 * Stores the log, the chain and the payees of the service, for the bundles to come. Without a chain, the stored one
 * stays as long as the log does, because older anchors are checked against it. Every log, account and payee of the past stays too.
 * @param now Unix milliseconds
 */
export async function recordAnchors(
  store: DocumentStore,
  { log, chain, payees = [] }: AnchorAuthority,
  now: number,
): Promise<void> {
  const stored = await store.getDocument(ANCHORS);
  const before = stored === null ? null : await completed(store, stored, now);
  const next = succeeded(before, { log, chain, payees }, { from: now, until: now });
  const body = canonicalize(copyJson(next));
  // `stale` means that another process has just stored the same.
  if (body !== stored?.body) await store.putDocument(ANCHORS, (stored?.version ?? 0) + 1, body);
}

/** Takes over what an earlier bundle says, where nothing is recorded yet: in the new database of a service. */
export async function inheritAnchors(
  store: DocumentStore,
  { log, chain, payees, history }: TrustBundle,
  lastSize: number | null,
): Promise<void> {
  const inherited: Recorded = {
    log,
    chain,
    ...(payees !== undefined && { payees }),
    ...(history !== undefined && { history }),
    since: { log: null, chain: null },
    last_size: lastSize,
  };
  await store.putDocument(ANCHORS, 1, canonicalize(copyJson(inherited)));
}

/** Whether a log was recorded, so that it is too late to inherit one. */
export async function hasAnchors(store: Pick<DocumentStore, 'getDocument'>): Promise<boolean> {
  return (await store.getDocument(ANCHORS)) !== null;
}

/** The log, chain, payees and history that are stored; nulls before the first. */
export async function recordedAnchors(store: Pick<DocumentStore, 'getDocument'>): Promise<AnchorAuthority> {
  const stored = await store.getDocument(ANCHORS);
  if (stored === null) return { log: null, chain: null };
  const { since: _since, last_size: _size, ...anchors } = ownDocument<Recorded>(stored.body);
  return anchors;
}

/** What is stored. A release that knew no history has left one version for each change, without times. */
async function completed(
  store: DocumentStore,
  stored: { readonly version: number; readonly body: string },
  now: number,
): Promise<Recorded> {
  const newest = ownDocument<Recorded>(stored.body);
  if (newest.since !== undefined) return newest;
  let before: Recorded | null = null;
  for (let version = 1; version <= stored.version; version += 1) {
    const body = await store.getDocumentVersion(ANCHORS, version);
    if (body === null) continue;
    const recorded = ownDocument<Recorded>(body);
    before = recorded.since ? recorded : succeeded(before, recorded, { from: null, until: now });
  }
  return before ?? newest;
}

/** What is recorded once another log, chain or payees may have taken the place of those before. */
function succeeded(before: Recorded | null, next: AnchorAuthority, at: Moment): Recorded {
  const sameLog = before !== null && canonicalize(copyJson(before.log)) === canonicalize(copyJson(next.log));
  const chain = next.chain ?? (sameLog ? before.chain : null);
  const sameChain = sameLog && isSame(before.chain, chain);
  const from = at.from === null ? null : wholeSeconds(at.from - EARLY_MS);
  const since = {
    log: sameLog ? (before.since?.log ?? null) : from,
    chain: sameChain ? (before.since?.chain ?? null) : from,
  };
  const ended = before === null ? [] : endedLog(before, sameLog, at);
  const replaced = before === null ? [] : replacedAccount(before, sameChain, at);
  const history: AnchorHistory = {
    logs: [...(before?.history?.logs ?? []), ...ended],
    chains: [...(before?.history?.chains ?? []), ...replaced],
  };
  const payees = withoutRepeats([...(before?.payees ?? []), ...(next.payees ?? [])]);
  return {
    log: next.log,
    chain,
    ...(payees.length > 0 && { payees }),
    ...(history.logs.length + history.chains.length > 0 && { history }),
    since,
  };
}

function endedLog({ log, since, last_size = null }: Recorded, same: boolean, at: Moment) {
  if (same || log === null) return [];
  return [{ ...log, last_size, valid_from: since?.log ?? null, valid_until: wholeSeconds(at.until) }];
}

function replacedAccount({ log, chain, since }: Recorded, same: boolean, at: Moment) {
  if (same || log === null || chain === null) return [];
  const span = {
    valid_from: since?.chain ?? null,
    valid_until: wholeSeconds(at.until + IN_FLIGHT_MS),
  };
  return [{ origin: log.origin, ...chain, ...span }];
}

function isSame(a: AnchorAuthority['chain'], b: AnchorAuthority['chain']): boolean {
  const text = (chain: AnchorAuthority['chain']): string =>
    chain === null ? '' : `${chain.network} ${chain.chain_id} ${chain.address.toLowerCase()}`;
  return text(a) === text(b);
}

const wholeSeconds = (ms: number): string => formatTimestamp(Math.floor(ms / 1000) * 1000);

function withoutRepeats(payees: readonly Payee[]): Payee[] {
  return [...new Map(payees.map((payee) => [canonicalize(copyJson(payee)), payee])).values()];
}
