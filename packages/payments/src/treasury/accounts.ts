/** The account of what the treasury holds on a chain, as a negative balance. `network` is CAIP-2, `eip155:8453`. */
export function chainAccount(network: string): string {
  return `chain:${network}`;
}

/** The account of what came in and is owed back to its sender. */
export const REFUNDS = 'refunds';
/** The account of requested withdrawals until they are paid. */
export const WITHDRAWALS = 'withdrawals';
/** The account of what the treasury held before the service watched it. */
export const OWNER = 'owner';

/** Id of the posting of what a treasury held at first. */
export function openingId(network: string, treasury: string): string {
  return `opening:${network}:${treasury.toLowerCase()}`;
}

/** Id of the posting of a transaction by which the owner took money out by hand. */
export function ownId(network: string, txHash: string): string {
  return `owner:${network}:${txHash}`;
}
