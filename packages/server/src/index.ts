export { type Config, readConfig } from './config.ts';
export { nodeEngine, nodeSigner } from './crypto/node-ed25519.ts';
export {
  createKeyring,
  holdsRoot,
  type Keyring,
  revokeKey,
  rotateKey,
  signerFor,
} from './issuers/keyring.ts';
export { readKeyring, writeKeyring } from './issuers/keyring-file.ts';
export {
  approveIssuer,
  BUNDLE_DAYS,
  currentTrust,
  publishTrust,
  refreshTrust,
  trustDraft,
} from './issuers/trust-bundle.ts';
export { serve } from './main.ts';
export { openStore, readPassphrase } from './services.ts';
