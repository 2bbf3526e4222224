export { nodeEngine, nodeSigner } from '@tallystick/kit';
export { type Grant, type Scope, TIERS, type Tier } from './callers/api-key.ts';
export { type ApiKeyListing, createApiKey, listApiKeys, revokeApiKey } from './callers/manage-api-keys.ts';
export {
  createTenant,
  createTenantKey,
  listTenants,
  revokeTenant,
  type TenantListing,
} from './callers/manage-tenants.ts';
export type { ChainReader } from './chain/chain.ts';
export { openChainReader, rawDecoder } from './chain/lazy.ts';
export { createPostingKey, readPostingKey } from './chain/posting-key.ts';
export type { DevToken } from './chain/token/dev-token.ts';
export { openDevToken, readSettlement } from './chain/token/lazy.ts';
export type { SettlementAnswer } from './chain/token/settlement-reader.ts';
export { type Config, readConfig } from './config.ts';
export type { RouteExplanation, ScoreRecord } from './inference/router/record.ts';
export { explainRequest, type Replay, replay } from './inference/router/replay.ts';
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
export { callerAccount } from './ledger/accounts.ts';
export { creditCaller } from './ledger/credit.ts';
export { formatUsdc, parseUsdc } from './ledger/money.ts';
export { listen } from './listen.ts';
export { fsckLog } from './log/fsck.ts';
export type { FsckReport, WitnessFinding } from './log/fsck-report.ts';
export { followLog, type MonitorState, type Sighting } from './log/monitor.ts';
export { createWitness } from './log/witness.ts';
export { openWitnessState } from './log/witness-state.ts';
export { serve } from './main.ts';
export { openStore, readPassphrase } from './opening.ts';
export { openDesk } from './payments/desk.ts';
export { readContact } from './payments/keys/contact.ts';
export { openSealedKey } from './payments/keys/sealed-key.ts';
export { declinePayout } from './payments/payouts/request.ts';
export type { Report as Readiness } from './prospector/report.ts';
export type { Normalized } from './rosetta/answer.ts';
export type { StatementLine } from './store/ledger-store.ts';
export type { OrderRow, PayoutRow } from './store/treasury-store.ts';
