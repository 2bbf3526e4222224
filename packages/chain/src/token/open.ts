import { TallyError } from '@tallystick/core';
import type { Address } from 'viem';
import { getAddress, isAddress } from 'viem/utils';
import type { ChainSettings } from '../settings.ts';
import { type DevToken, deployDevToken } from './dev-token.ts';
import { openTokenChain, type TokenChain } from './token.ts';

export interface Money {
  readonly token: TokenChain;
  /** Address that is paid: EIP-55 checksummed. */
  readonly treasury: Address;
  /** URL of the node; it may hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Test money and wallets; null except on a development chain. */
  readonly dev: DevToken | null;
}

const TIMEOUT_MS = 10_000;

interface MoneySettings {
  readonly chain: Pick<ChainSettings, 'id' | 'devnet'>;
  readonly payments: {
    /** Addresses as configured; null for those of the development chain. */
    readonly treasury: string | null;
    readonly usdc: string | null;
    /** Number of blocks after which a transfer is final, counting the one that holds it. */
    readonly confirmations: number;
  };
}

/**
 * Opens USDC and treasury of the configured chain; a development chain gets test money and the contracts that x402 uses.
 * @param rpcUrl URL of the configured chain, or of the development chain that was started
 * @throws invalid_field for an address with a wrong checksum; on a development chain chain_unavailable, chain_mismatch
 */
export async function openMoney(
  { chain: { id, devnet }, payments }: MoneySettings,
  rpcUrl: string,
): Promise<Money> {
  const dev = devnet ? await deployDevToken(rpcUrl) : null;
  const usdc = checked('TALLY_USDC', payments.usdc ?? dev?.usdc);
  const token = openTokenChain({
    rpcUrl,
    chainId: id,
    usdc,
    confirmations: payments.confirmations,
    timeoutMs: TIMEOUT_MS,
  });
  const treasury = checked('TALLY_TREASURY', payments.treasury ?? dev?.accounts.treasury);
  return { token, treasury, rpcUrl, chainId: id, dev };
}

/** Checks the checksum of an address: money sent to a mistyped one is lost. */
function checked(name: string, address: string | undefined): Address {
  if (address !== undefined && isAddress(address)) return getAddress(address);
  throw new TallyError('invalid_field', `${name} is not an address, or its checksum is wrong.`, {
    field: name.toLowerCase(),
  });
}
