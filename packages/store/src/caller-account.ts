/**
 * Whether the account belongs to a caller: then its balance never falls below what is reserved. Other accounts may be
 * negative.
 */
export function isCallerAccount(account: string): boolean {
  return account.startsWith('caller:');
}
