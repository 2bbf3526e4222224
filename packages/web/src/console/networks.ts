/** Chains by CAIP-2, as people call them, with what explores them. */
const NETWORKS: Readonly<Record<string, { readonly name: string; readonly explorer: string }>> = {
  'eip155:8453': { name: 'Base', explorer: 'https://basescan.org' },
  'eip155:84532': { name: 'Base Sepolia', explorer: 'https://sepolia.basescan.org' },
};

export function networkName(network: string): string {
  return NETWORKS[network]?.name ?? `the chain ${network.replace('eip155:', '')}`;
}

/** Address of a transaction at an explorer; null for a chain that has none. */
export function transactionUrl(network: string, hash: string): string | null {
  const explorer = NETWORKS[network]?.explorer;
  return explorer === undefined ? null : `${explorer}/tx/${hash}`;
}

/** A transfer of a token, as wallets read it from a QR code (ERC-681). @param amount in base units */
export function transferUri(to: {
  readonly network: string;
  readonly asset: string;
  readonly pay_to: string;
  readonly amount: string;
}): string {
  const chain = to.network.replace('eip155:', '');
  return `ethereum:${to.asset}@${chain}/transfer?address=${to.pay_to}&uint256=${to.amount}`;
}
