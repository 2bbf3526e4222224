export {
  accountKeys,
  changeAccountKey,
  type KeyDocument,
  type KeyMembers,
  makeAccountKey,
  type Owner,
  ownerOf,
  revokeAccountKey,
  rotateAccountKey,
  spendingDocuments,
} from './account-keys.ts';
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
export {
  type ApiKeyRow,
  type ApiKeyStore,
  type KeyChange,
  type KeysInUse,
  UNCHANGED_KEY,
} from './api-key-store.ts';
export {
  CALLER_ERRORS,
  type Caller,
  type Callers,
  type Client,
  type ClientCall,
  createCallers,
  onlyKeyOf,
  type Spender,
  spendersOf,
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
  type CallsKey,
  type CredentialOf,
  missingKey,
  PARTNER_ERRORS,
  PARTNER_HEADERS,
  type PayingKey,
  requireTenant,
  TENANT_ERRORS,
  TENANT_HEADERS,
  tenantOf,
} from './credentials.ts';
export { consumeDaily } from './daily-quota.ts';
export { accountToCredit } from './key-account.ts';
export {
  isUsedUp,
  LIMIT_ERRORS,
  LIMIT_HEADERS,
  type Limits,
  leftOf,
  limitRefusal,
  limitsFrom,
  noteLimits,
  spendingOf,
} from './limits.ts';
export {
  type ApiKeyListing,
  createApiKey,
  keyLimits,
  listApiKeys,
  payerOf,
  revokeApiKey,
  setKeyLimits,
  setKeyRouting,
} from './manage-api-keys.ts';
export {
  createTenant,
  createTenantKey,
  listTenants,
  revokeTenant,
  type TenantListing,
} from './manage-tenants.ts';
export {
  type AdmitOperator,
  createOperatorKey,
  listOperatorKeys,
  OPERATOR_ERRORS,
  OPERATOR_HEADERS,
  type OperatorKeyListing,
  type OperatorKeyRow,
  type OperatorKeyStore,
  OperatorKeyWatch,
  operatorGate,
  revokeOperatorKey,
} from './operator-keys.ts';
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
export { BudgetNews } from './webhooks/budget-news.ts';
export {
  keyRevoked,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  type WebhookEvent,
  type WebhookMessage,
  webhookMessage,
} from './webhooks/events.ts';
export {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  isWebhookId,
  MOST_WEBHOOKS,
  requireWebhook,
  rotateWebhookSecret,
} from './webhooks/manage.ts';
export { openWebhooks, type WebhookService } from './webhooks/open.ts';
export type {
  DeliveryPlace,
  DeliveryResult,
  DeliveryRow,
  WebhookChange,
  WebhookCounts,
  WebhookMark,
  WebhookRow,
  WebhookStore,
} from './webhooks/webhook-store.ts';
