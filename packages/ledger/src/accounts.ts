/** Where money that callers pay in comes from: minus what they ever paid in. */
export const EXTERNAL = 'external';
/** What the service keeps. */
export const REVENUE = 'revenue';
/** Who pays, in development, for a caller without balance: it may owe. */
export const DEVELOPMENT = 'development';

/** Stands for whoever brings an x402 payment with each call. Nothing is ever posted to it. */
export const X402 = 'x402';

/** The account that an API key (by its public id, `key_…`) or a DID pays from, and that a DID's share goes to. */
export function callerAccount(keyIdOrDid: string): string {
  return `caller:${keyIdOrDid}`;
}

/** What a provider is owed, by its name in the catalogue. */
export function providerAccount(name: string): string {
  return `provider:${name}`;
}
