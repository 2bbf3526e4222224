import {
  type AnchorAuthority,
  canonicalize,
  copyJson,
  type IssuerDocument,
  type IssuerRecord,
  type JsonObject,
  type JsonValue,
  type Payee,
  parseJson,
  secondsOf,
  signTrustBundle,
  TallyError,
  type TrustBundle,
  type TrustBundleFacts,
  utf8,
} from '@tallystick/core';
import { type DocumentStore, ownDocument } from '@tallystick/kit';
import type { IssuerStore } from './issuer-store.ts';
import { holdsRoot, type Keyring, signerFor } from './keyring.ts';

const NAME = 'trust';
const ANCHORS = 'anchors';
const DAY_MS = 86_400_000;
/** Validity of a bundle in days: a revocation reaches every offline verifier within this time. */
export const BUNDLE_DAYS = 90;

/** Most registered (not verified) issuers in a bundle: pages carry the bundle, and every version of it is stored. */
const MAX_REGISTERED = 256;

/** A bundle as it was published, byte for byte, and its parsed form. */
export interface PublishedTrust {
  readonly text: string;
  readonly bundle: TrustBundle;
}

/** The newest published bundle, or null before the first. */
export async function currentTrust(store: IssuerStore & DocumentStore): Promise<PublishedTrust | null> {
  const document = await store.getDocument(NAME);
  if (document === null) return null;
  return { text: document.body, bundle: ownDocument<TrustBundle>(document.body) };
}

/** The issuers for a bundle: the service itself, those that its operator verified, and the first that registered; by DID. */
async function trustedIssuers(store: IssuerStore & DocumentStore, keyring: Keyring): Promise<IssuerRecord[]> {
  const records = [recordOf(keyring.document)];
  for await (const { record } of store.listIssuers({ status: 'verified' })) {
    records.push(recordOf(ownDocument<IssuerRecord>(record)));
  }
  records.push(...(await firstRegistered(store)));
  return records.sort((a, b) => (a.did < b.did ? -1 : 1));
}

/** The issuers that registered first, so that a flood of registrations does not change who is listed. */
async function firstRegistered(store: IssuerStore & DocumentStore): Promise<IssuerRecord[]> {
  const registered: { readonly at: number; readonly record: IssuerRecord }[] = [];
  for await (const { record } of store.listIssuers({ status: 'registered' })) {
    const document = ownDocument<IssuerDocument>(record);
    const at = secondsOf(document.history[0]?.statement.at ?? '');
    registered.push({ at, record: recordOf(document) });
    if (registered.length >= 2 * MAX_REGISTERED) keepFirst(registered);
  }
  keepFirst(registered);
  return registered.map(({ record }) => record);
}

function keepFirst(registered: { readonly at: number; readonly record: IssuerRecord }[]): void {
  registered.sort((a, b) => a.at - b.at || (a.record.did < b.record.did ? -1 : 1));
  registered.length = Math.min(registered.length, MAX_REGISTERED);
}

function recordOf({ did, status, keys }: IssuerRecord): IssuerRecord {
  return { did, status, keys };
}

/**
 * Publishes a new bundle if its contents have changed, or when half its life is over. Does nothing
 * without the root key: then bundles are signed offline and published by the operator.
 * @param now Unix milliseconds
 */
export async function refreshTrust(
  store: IssuerStore & DocumentStore,
  keyring: Keyring,
  now: number,
): Promise<void> {
  if (!holdsRoot(keyring)) return;
  const newest = await currentTrust(store);
  const draft = await trustDraft(store, keyring);
  const half = now + (BUNDLE_DAYS * DAY_MS) / 2;
  const same =
    newest !== null &&
    canonicalize(bundleContents(newest.bundle)) === canonicalize(bundleContents(draft)) &&
    secondsOf(newest.bundle.expires_at) * 1000 > half;
  if (same) return;
  const facts = { ...draft, issuedAt: now, expiresAt: now + BUNDLE_DAYS * DAY_MS };
  const text = await signTrustBundle(facts, signerFor(keyring, 'root'));
  // `stale` means that another process has just published the same contents.
  await store.putDocument(NAME, draft.version, text);
}

function bundleContents({
  issuers,
  log,
  chain,
  payees = [],
}: AnchorAuthority & Pick<TrustBundle, 'issuers'>): JsonValue {
  return copyJson({ issuers, log, chain, payees });
}

/**
 * Stores the log, the chain and the payees of the service, for the bundles to come. Without a chain, the stored one
 * stays, because older anchors are checked against it. Every payee of the past stays too.
 */
export async function recordAnchors(
  store: IssuerStore & DocumentStore,
  { log, chain, payees = [] }: AnchorAuthority,
): Promise<void> {
  const stored = await store.getDocument(ANCHORS);
  const before = await recordedAnchors(store);
  const paid = withoutRepeats([...(before.payees ?? []), ...payees]);
  const anchors = { log, chain: chain ?? before.chain, ...(paid.length > 0 && { payees: paid }) };
  const body = canonicalize(copyJson(anchors));
  // `stale` means that another process has just stored the same.
  if (body !== stored?.body) await store.putDocument(ANCHORS, (stored?.version ?? 0) + 1, body);
}

function withoutRepeats(payees: readonly Payee[]): Payee[] {
  return [...new Map(payees.map((payee) => [canonicalize(copyJson(payee)), payee])).values()];
}

/** The log, chain and payees that `recordAnchors` has stored; nulls before the first. */
export async function recordedAnchors(store: Pick<DocumentStore, 'getDocument'>): Promise<AnchorAuthority> {
  const stored = await store.getDocument(ANCHORS);
  if (stored === null) return { log: null, chain: null };
  return ownDocument<AnchorAuthority>(stored.body);
}

/** The contents of the next bundle, for a root that signs offline. */
export async function trustDraft(
  store: IssuerStore & DocumentStore,
  keyring: Keyring,
): Promise<Omit<TrustBundleFacts, 'issuedAt' | 'expiresAt'>> {
  const newest = await currentTrust(store);
  return {
    version: (newest?.bundle.version ?? 0) + 1,
    issuers: await trustedIssuers(store, keyring),
    ...(await recordedAnchors(store)),
  };
}

/** Stores a checked bundle as the newest. @throws trust_rollback when one of its version or a newer one is stored */
export async function publishTrust(store: IssuerStore & DocumentStore, bundle: TrustBundle): Promise<void> {
  const text = canonicalize(copyJson(bundle));
  if ((await store.putDocument(NAME, bundle.version, text)) === 'stale') {
    throw new TallyError(
      'trust_rollback',
      `A bundle of version ${bundle.version} or later is already published.`,
    );
  }
}

/** Marks a registered issuer as verified. @throws issuer_not_found, issuer_conflict */
export async function approveIssuer(store: IssuerStore & DocumentStore, did: string): Promise<void> {
  const found = await store.getIssuer(did);
  if (found === null) throw new TallyError('issuer_not_found', `${did} is not registered with this service.`);
  const document = parseJson(utf8(found.record)) as JsonObject;
  const record = canonicalize({ ...document, status: 'verified' });
  if ((await store.putIssuer(did, record, found.sequence + 1)) !== 'stored') {
    throw new TallyError('issuer_conflict', `${did} was changed at the same moment. Try again.`);
  }
}
