/** Whether an account is a caller's: its balance never goes below what is reserved. Others may owe. */
export function isCallerAccount(account: string): boolean {
  return account.startsWith('caller:');
}
