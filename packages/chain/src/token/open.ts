import { TallyError } from '@tallystick/core';
import type { Address } from 'viem';
import { getAddress, isAddress } from 'viem/utils';
import type { ChainSettings } from '../settings.ts';
import { type DevToken, deployDevToken } from './dev-token.ts';
import { openTokenChain, type TokenChain } from './token.ts';

export interface Money {
  readonly token: TokenChain;
  /** Is paid: EIP-55 checksummed. */
  readonly treasury: Address;
  /** May hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** On a development chain only. */
  readonly dev: DevToken | null;
}

const TIMEOUT_MS = 10_000;

interface MoneySettings {
  readonly chain: Pick<ChainSettings, 'id' | 'devnet'>;
  readonly payments: {
    /** Addresses as they were given; null for the development chain's. */
    readonly treasury: string | null;
    readonly usdc: string | null;
    /** How many blocks make a transfer certain, the one that holds it among them. */
    readonly confirmations: number;
  };
}

/**
 * The configured chain's USDC and treasury; a development chain is given test money and the contracts that x402 uses.
 * @param rpcUrl of the configured chain, or of the development chain that was started
 * @throws invalid_field for an address whose checksum is wrong; chain_unavailable, chain_mismatch, of a development chain
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

/** A mistyped address would be paid for ever. */
function checked(name: string, address: string | undefined): Address {
  if (address !== undefined && isAddress(address)) return getAddress(address);
  throw new TallyError('invalid_field', `${name} is not an address, or its checksum is wrong.`, {
    field: name.toLowerCase(),
  });
}
