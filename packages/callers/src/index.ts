export { agentHeader } from './agent-header.ts';
export { agentKeys } from './agent-keys.ts';
export {
  AGENT_ERRORS,
  AGENT_HEADERS,
  type Agent,
  carriesSignature,
} from './agents.ts';
export {
  apiKeyFrom,
  apiKeyHasher,
  type Grant,
  isApiKeyId,
  newApiKeyId,
  type Scope,
  TIERS,
  type Tier,
} from './api-key.ts';
export type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';
export {
  CALLER_ERRORS,
  type Caller,
  type Callers,
  type Client,
  type ClientCall,
  createCallers,
} from './callers.ts';
export {
  type ClientAddresses,
  createClients,
  type Subnet,
  type TrustedProxy,
  UNIX_SOCKET,
} from './clients.ts';
export {
  API_KEY_ERRORS,
  type ApiKey,
  type CredentialOf,
  missingKey,
  PARTNER_ERRORS,
  PARTNER_HEADERS,
  requireTenant,
  TENANT_ERRORS,
  TENANT_HEADERS,
  tenantOf,
} from './credentials.ts';
export { consumeDaily } from './daily-quota.ts';
export { type ApiKeyListing, createApiKey, listApiKeys, revokeApiKey } from './manage-api-keys.ts';
export {
  createTenant,
  createTenantKey,
  listTenants,
  revokeTenant,
  type TenantListing,
} from './manage-tenants.ts';
export { acceptHashes, type Counting, countReceipt } from './quota.ts';
export type {
  DepartedReceipt,
  DepartureWindow,
  ExportRow,
  PurgeRow,
  RoomPlace,
  RoomReceipt,
  RoomWindow,
  TenantRow,
  TenantStore,
} from './tenant-store.ts';
