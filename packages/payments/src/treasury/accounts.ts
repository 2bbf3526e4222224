/** What the treasury holds on a chain: minus that. `network` is CAIP-2, `eip155:8453`. */
export function chainAccount(network: string): string {
  return `chain:${network}`;
}

/** What came in and is owed back to who sent it. */
export const REFUNDS = 'refunds';
/** What callers have asked for, and is put aside until it is paid. */
export const WITHDRAWALS = 'withdrawals';
/** What the treasury held before the service watched it. */
export const OWNER = 'owner';

/** The posting of what a treasury held at first. */
export function openingId(network: string, treasury: string): string {
  return `opening:${network}:${treasury.toLowerCase()}`;
}

/** The posting of a transaction by which the owner took money out by hand. */
export function ownId(network: string, txHash: string): string {
  return `owner:${network}:${txHash}`;
}
