/** The account on the other side of all money paid in: its balance is minus their sum. */
export const EXTERNAL = 'external';
/** The account of what the service has earned. */
export const REVENUE = 'revenue';
/** The account that pays, in development, for callers without a balance. It may be negative. */
export const DEVELOPMENT = 'development';

/** Stands for the account of a caller who pays each call by x402. Nothing is ever posted to it. */
export const X402 = 'x402';

/** The account from which an API key (by its public id, `key_…`) or a DID pays, and to which a DID's share goes. */
export function callerAccount(keyIdOrDid: string): string {
  return `caller:${keyIdOrDid}`;
}

/** The account of what a provider is owed, by its name in the catalogue. */
export function providerAccount(name: string): string {
  return `provider:${name}`;
}
