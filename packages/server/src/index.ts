export {
  type ApiKeyListing,
  createApiKey,
  createOperatorKey,
  createTenant,
  createTenantKey,
  type Grant,
  keyLimits,
  listApiKeys,
  listOperatorKeys,
  listTenants,
  type OperatorKeyListing,
  payerOf,
  revokeApiKey,
  revokeOperatorKey,
  revokeTenant,
  type Scope,
  setKeyLimits,
  setKeyRouting,
  type TenantListing,
  TIERS,
  type Tier,
} from '@tallystick/callers';
export type { ChainReader } from '@tallystick/chain';
export {
  createPostingKey,
  openChainReader,
  openDevToken,
  rawDecoder,
  readPostingKey,
} from '@tallystick/chain';
export type { DevToken } from '@tallystick/chain/evm';
export type { RouteExplanation, ScoreRecord } from '@tallystick/inference';
export { checkKeyRouting, checkLimits, explainRequest, type Replay, replay } from '@tallystick/inference';
export {
  addPqKey,
  approveIssuer,
  BUNDLE_DAYS,
  createKeyring,
  currentTrust,
  hasAnchors,
  holdsRoot,
  inheritAnchors,
  type Keyring,
  ownRecord,
  pqSignerOf,
  publishTrust,
  readKeyring,
  recordedAnchors,
  refreshTrust,
  remoteKeys,
  revokeKey,
  revokePqKey,
  rotateKey,
  signerFor,
  trustDraft,
  withApiKeySecret,
  writeKeyring,
} from '@tallystick/issuers';
export { nodeEngine, nodeSigner } from '@tallystick/kit';
export type { StatementLine } from '@tallystick/ledger';
export { callerAccount, creditCaller, formatUsdc, parseUsdc } from '@tallystick/ledger';
export type { FsckReport, WitnessFinding } from '@tallystick/log';
export {
  checkpointsIn,
  createWitness,
  fetchAtMost,
  followLog,
  fsckLog,
  type MonitorState,
  openWitnessState,
  type Sighting,
} from '@tallystick/log';
export type { OrderRow, PayoutRow } from '@tallystick/payments';
export { declinePayout, openSealedKey, openTreasuryCommands, readContact } from '@tallystick/payments';
export { reloadProcesses } from './app/control.ts';
export { listen } from './app/listen.ts';
export { witnessesOf } from './app/local-witnesses.ts';
export { serve } from './app/main.ts';
export { openLogStorage, openStore } from './app/opening.ts';
export { controlFolder } from './app/reloading.ts';
export { type Config, checkConfig, readConfig } from './config/config.ts';
export type { Report as Readiness } from './pilots/prospector/report.ts';
export type { Normalized } from './pilots/rosetta/answer.ts';
