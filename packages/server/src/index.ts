export { type Grant, type Scope, TIERS, type Tier } from './api-keys/api-key.ts';
export { type ApiKeyListing, createApiKey, listApiKeys, revokeApiKey } from './api-keys/manage.ts';
export type { ChainReader } from './chain/chain.ts';
export { openChainReader, rawDecoder } from './chain/lazy.ts';
export { createPostingKey, readPostingKey } from './chain/posting-key.ts';
export { callerAccount } from './compute/ledger/accounts.ts';
export { creditCaller } from './compute/ledger/credit.ts';
export { formatUsdc, parseUsdc } from './compute/ledger/money.ts';
export type { RouteExplanation, ScoreRecord } from './compute/router/record.ts';
export { explainRequest, type Replay, replay } from './compute/router/replay.ts';
export { type Config, readConfig } from './config.ts';
export { nodeEngine, nodeSigner } from './crypto/node-ed25519.ts';
export {
  createKeyring,
  holdsRoot,
  type Keyring,
  revokeKey,
  rotateKey,
  signerFor,
  withApiKeySecret,
} from './issuers/keyring.ts';
export { readKeyring, writeKeyring } from './issuers/keyring-file.ts';
export {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  publishTrust,
  recordedAnchors,
  refreshTrust,
  trustDraft,
} from './issuers/trust-bundle.ts';
export { listen } from './listen.ts';
export { fsckLog } from './log/fsck.ts';
export type { FsckReport, WitnessFinding } from './log/fsck-report.ts';
export { followLog, type MonitorState, type Sighting } from './log/monitor.ts';
export { createWitness } from './log/witness.ts';
export { openWitnessState } from './log/witness-state.ts';
export { serve } from './main.ts';
export { openStore, readPassphrase } from './opening.ts';
export type { DevToken } from './payments/chain/dev-token.ts';
export { openDevToken } from './payments/chain/lazy.ts';
export { openDesk } from './payments/desk.ts';
export { readContact } from './payments/keys/contact.ts';
export { openSealedKey } from './payments/keys/sealed-key.ts';
export { declinePayout } from './payments/payouts/request.ts';
export type { Report as Readiness } from './prospector/report.ts';
export type { Normalized } from './rosetta/answer.ts';
export type { StatementLine } from './store/ledger-store.ts';
export type { OrderRow, PayoutRow } from './store/treasury-store.ts';
export {
  createTenant,
  createTenantKey,
  listTenants,
  revokeTenant,
  type TenantListing,
} from './tenants/manage.ts';
