export type { IssuerRow, IssuerStore } from './issuer-store.ts';
export {
  createKeyring,
  holdsRoot,
  type Keyring,
  revokeKey,
  rotateKey,
  signerFor,
  withApiKeySecret,
} from './keyring.ts';
export { changeKeyring, readKeyring, writeFirstKeyring, writeKeyring } from './keyring-file.ts';
export { replaceLostKey, revokeEarlierKey } from './lost-key.ts';
export { type OwnIssuer, openOwnIssuer } from './own-issuer.ts';
export { addPqKey, ownRecord, pqSignerOf, revokePqKey } from './pq-keys.ts';
export { hasAnchors, inheritAnchors, recordAnchors, recordedAnchors } from './recorded-anchors.ts';
export { createRegistry, type Registry } from './registry.ts';
export { RegistryNews } from './registry-news.ts';
export { type AwsCredentialSources, awsCredentials } from './remote/aws-credentials.ts';
export { type RemoteKeySettings, remoteKeys } from './remote/open.ts';
export {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  type PublishedTrust,
  publishedTrust,
  publishTrust,
  refreshTrust,
  trustDraft,
} from './trust-bundle.ts';
export { openTrustService, type TrustService } from './trust-service.ts';
