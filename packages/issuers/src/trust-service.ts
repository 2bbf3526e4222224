import {
  type AnchorAuthority,
  bothTrusts,
  type IssuerRecord,
  isObject,
  type JsonObject,
  type Trust,
  trustOf,
} from '@tallystick/core';
import { type DocumentStore, ownDocument } from '@tallystick/kit';
import { withEarlierKeys } from './earlier-keys.ts';
import type { IssuerStore } from './issuer-store.ts';
import type { OwnIssuer } from './own-issuer.ts';
import { ownRecord } from './pq-keys.ts';
import { recordedAnchors } from './recorded-anchors.ts';
import { currentTrust, type PublishedTrust } from './trust-bundle.ts';

/** The trust by which this service verifies: itself, the issuers in the newest bundle, and registered issuers. */
export interface TrustService {
  /** The issuers of the keyring and the newest bundle. Does not read the database. */
  issuers(): Trust;
  /** Trust that reads the registry for the issuers that the receipt names, then `issuers()`; verified ones are not read again. */
  forReceipt(receipt: JsonObject): Promise<Trust>;
  /** This service's own log and chain. */
  anchors(): AnchorAuthority;
  /** The newest bundle, or null before the first. */
  bundle(): PublishedTrust | null;
  /** Reads the keyring and the newest bundle again if they have changed. */
  refresh(): Promise<void>;
}

export async function openTrustService(
  store: IssuerStore & DocumentStore,
  issuer: OwnIssuer,
): Promise<TrustService> {
  let published: PublishedTrust | null = null;
  let anchors: AnchorAuthority = { log: null, chain: null };
  let trust: Trust = trustOf([ownRecord(issuer.keyring)]);
  const service: TrustService = {
    issuers: () => trust,
    anchors: () => anchors,
    bundle: () => published,
    async forReceipt(receipt) {
      // For issuers that are only registered, the bundle may be ten minutes out of date.
      const unsure = namedIssuers(receipt).filter((did) => trust.issuer(did)?.status !== 'verified');
      if (unsure.length === 0) return trust;
      const found = await Promise.all(unsure.map((did) => registered(store, did)));
      return bothTrusts(trustOf(found.filter((record) => record !== null)), trust);
    },
    async refresh() {
      published = await currentTrust(store);
      anchors = await recordedAnchors(store);
      const { issuers = [] } = published?.bundle ?? {};
      // The keyring comes first: it holds a rotation before the bundle does. Keys of an earlier keyring are in the bundle alone.
      const own = ownRecord(issuer.keyring);
      const earlier = issuers
        .filter(({ did }) => did === own.did)
        .map((record) => ({ ...record, keys: record.keys.filter(({ state }) => state !== 'active') }));
      trust = trustOf([...withEarlierKeys([own], earlier, 0), ...issuers], [anchors]);
    },
  };
  await service.refresh();
  return service;
}

async function registered(store: IssuerStore & DocumentStore, did: string): Promise<IssuerRecord | null> {
  const stored = await store.getIssuer(did);
  return stored === null ? null : ownDocument<IssuerRecord>(stored.record);
}

/** Every did:svc that a receipt of any family names: as issuer, requester or operator. */
function namedIssuers(receipt: JsonObject): string[] {
  const { issuer_did, request, operator } = receipt;
  const named = [
    issuer_did,
    isObject(request) ? request.origin : null,
    isObject(operator) ? operator.entity : null,
  ];
  const isSvc = (did: unknown): did is string =>
    typeof did === 'string' && did.startsWith('did:svc:') && did.length <= 100;
  return [...new Set(named.filter(isSvc))];
}
