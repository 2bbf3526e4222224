import {
  type AnchorAuthority,
  bundleHash,
  canonicalize,
  copyJson,
  type IssuerDocument,
  type IssuerRecord,
  type JsonObject,
  type JsonValue,
  parseJson,
  secondsOf,
  signTrustBundle,
  TallyError,
  type TrustBundle,
  type TrustBundleFacts,
  utf8,
} from '@tallystick/core';
import { type DocumentStore, ownDocument } from '@tallystick/kit';
import { withEarlierKeys } from './earlier-keys.ts';
import type { IssuerStore } from './issuer-store.ts';
import { holdsRoot, type Keyring, signerFor } from './keyring.ts';
import { ownRecord } from './pq-keys.ts';
import { recordedAnchors } from './recorded-anchors.ts';

const NAME = 'trust';
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
  const records = [ownRecord(keyring)];
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
  for (;;) {
    const newest = (await currentTrust(store))?.bundle ?? null;
    const draft = await draftAfter(newest, store, keyring, now);
    const half = now + (BUNDLE_DAYS * DAY_MS) / 2;
    const same =
      newest !== null &&
      canonicalize(bundleContents(newest)) === canonicalize(bundleContents(draft)) &&
      secondsOf(newest.expires_at) * 1000 > half;
    if (same) return;
    const facts = { ...draft, issuedAt: now, expiresAt: now + BUNDLE_DAYS * DAY_MS };
    const text = await signTrustBundle(facts, signerFor(keyring, 'root'));
    // Where another process has published one meanwhile, that may have the same contents, or lack some.
    if ((await store.putDocument(NAME, draft.version, text)) === 'stored') return;
  }
}

function bundleContents({
  issuers,
  log,
  chain,
  payees = [],
  history,
}: AnchorAuthority & Pick<TrustBundle, 'issuers'>): JsonValue {
  return copyJson({ issuers, log, chain, payees, ...(history && { history }) });
}

/** The contents of the next bundle, for a root that signs offline. @param now Unix milliseconds */
export async function trustDraft(
  store: IssuerStore & DocumentStore,
  keyring: Keyring,
  now: number,
): Promise<TrustDraft> {
  return draftAfter((await currentTrust(store))?.bundle ?? null, store, keyring, now);
}

type TrustDraft = Omit<TrustBundleFacts, 'issuedAt' | 'expiresAt'>;

async function draftAfter(
  newest: TrustBundle | null,
  store: IssuerStore & DocumentStore,
  keyring: Keyring,
  now: number,
): Promise<TrustDraft> {
  const issuers = await trustedIssuers(store, keyring);
  return {
    version: (newest?.version ?? 0) + 1,
    previous_sha256: newest === null ? null : bundleHash(newest),
    issuers:
      newest === null || isOfAnotherRoot(newest, keyring)
        ? issuers
        : withEarlierKeys(issuers, newest.issuers, now),
    ...(await recordedAnchors(store)),
  };
}

/** Whether the keyring holds a root other than the one that signed the bundle. */
function isOfAnotherRoot({ root }: TrustBundle, keyring: Keyring): boolean {
  return holdsRoot(keyring) && signerFor(keyring, 'root').keyId !== root.key_id;
}

/** The bundle of a version as it was published, or null. */
export function publishedTrust(store: DocumentStore, version: number): Promise<string | null> {
  return store.getDocumentVersion(NAME, version);
}

/**
 * Stores a checked bundle as the newest.
 * @throws trust_rollback when one of its version or a newer one is stored, or when it does not follow the newest
 */
export async function publishTrust(store: IssuerStore & DocumentStore, bundle: TrustBundle): Promise<void> {
  const newest = (await currentTrust(store))?.bundle ?? null;
  if (newest !== null && bundle.version > newest.version) refuseOtherLine(newest, bundle);
  const text = canonicalize(copyJson(bundle));
  if ((await store.putDocument(NAME, bundle.version, text)) === 'stale') {
    throw new TallyError(
      'trust_rollback',
      `A bundle of version ${bundle.version} or later is already published.`,
    );
  }
}

function refuseOtherLine(newest: TrustBundle, { version, previous_sha256 }: TrustBundle): void {
  if (previous_sha256 === undefined && newest.previous_sha256 === undefined) return;
  if (version === newest.version + 1 && previous_sha256 === bundleHash(newest)) return;
  throw new TallyError(
    'trust_rollback',
    previous_sha256 === undefined
      ? 'The bundle was signed by an earlier release, which leaves out the bundle before and the history. Sign it with this one.'
      : `The bundle does not follow version ${newest.version}, which is published. Make a new draft of it.`,
  );
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
