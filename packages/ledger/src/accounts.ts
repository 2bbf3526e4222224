/** The account that all money paid in comes from: its balance is minus their sum. */
export const EXTERNAL = 'external';
/** The account of the service's earnings. */
export const REVENUE = 'revenue';
/** The account that pays, in development, for callers without a balance. Its balance may be negative. */
export const DEVELOPMENT = 'development';

/** Stands for the account of a caller who pays each call by x402. It has no entries. */
export const X402 = 'x402';

/** The account from which an API key (by its public id, `key_…`) or a DID pays, and to which a DID's share goes. */
export function callerAccount(keyIdOrDid: string): string {
  return `caller:${keyIdOrDid}`;
}

/** Owner of a tenant's webhooks and of what is made with its keys. It stands for no account: tenants pay outside of the ledger. */
export function tenantAccount(tenant: string): string {
  return `tenant:${tenant}`;
}

/** The account of the money that is owed to a provider, by its name in the catalogue. */
export function providerAccount(name: string): string {
  return `provider:${name}`;
}
