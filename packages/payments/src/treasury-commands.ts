import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readChainKey } from '@tallystick/chain';
import type { TokenChain } from '@tallystick/chain/evm';
import { TallyError } from '@tallystick/core';
import type { LedgerStore } from '@tallystick/ledger';
import type { PayOutcome } from './payouts/pay.ts';
import type { Wallet } from './payouts/wallet.ts';
import type { TreasurySettings } from './settings.ts';
import type { Reconciliation } from './treasury/reconcile.ts';
import type { PayoutRow, TreasuryStore } from './treasury-store.ts';

/** The operator's commands to pay out and to compare ledger and chain; they work beside a running server, or without one. */
export interface TreasuryCommands {
  /** CAIP-2. */
  readonly network: string;
  readonly treasury: string;
  /** See `reconcile`: with `all`, from the first watched block on. */
  reconcile(options?: { readonly all?: boolean }): Promise<Reconciliation>;
  bookOwn(txHash: string): Promise<void>;
  bookPaid(payout: PayoutRow, txHash: string): Promise<void>;
  /** See `payOut`. @throws unavailable where the treasury's key is missing, or the books lack a payment */
  pay(payouts: readonly PayoutRow[]): Promise<PayOutcome[]>;
  /** Ends the payouts that are confirmed; see `createPayoutFollower`. */
  follow(): Promise<void>;
}

const TIMEOUT_MS = 15_000;
const KEY = { name: 'treasury’s key', field: 'treasury_key' };

/**
 * Opens the commands without a request to the chain, whose client is loaded here.
 * @throws unavailable where no chain, token or treasury is configured; invalid_field
 */
export async function openTreasuryCommands(
  config: TreasurySettings,
  store: { readonly treasury: TreasuryStore; readonly ledger: LedgerStore },
): Promise<TreasuryCommands> {
  const { bookOwn, bookPaid, reconcile, requireKnownPayments } = await import('./treasury/reconcile.ts');
  const { payOut } = await import('./payouts/pay.ts');
  const { createPayoutFollower } = await import('./payouts/follow.ts');
  const { openPayoutChain } = await import('./payouts/wallet.ts');
  const place = await openPlace(config);
  const { token, treasury, rpcUrl, chainId } = place;
  const { network, confirmations } = token;
  const clock = Date.now;
  const follower = createPayoutFollower({
    store,
    chain: openPayoutChain({ rpcUrl, chainId, confirmations, timeoutMs: TIMEOUT_MS }),
    network,
    clock,
    logger: { info: () => {}, warn: () => {} },
    // Only a server, which watches for long enough, may decide that a nonce is lost.
    patience: Number.POSITIVE_INFINITY,
  });
  return {
    network,
    treasury,
    reconcile: (options) => reconcile({ store, token, treasury }, options),
    bookOwn: (txHash) => bookOwn({ store, token, treasury }, txHash, clock()),
    bookPaid: (payout, txHash) => bookPaid({ store, token, treasury }, payout, { txHash, now: clock() }),
    async pay(payouts) {
      const wallet = await openTreasuryWallet(config, place);
      await follower.step();
      await requireKnownPayments({ store, token, treasury });
      return payOut({ store, wallet, token, treasury, clock }, payouts);
    },
    follow: () => follower.step(),
  };
}

interface TreasuryConfig {
  readonly token: TokenChain;
  readonly treasury: string;
  /** May hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
}

async function openPlace(config: TreasurySettings): Promise<TreasuryConfig> {
  const { chain, payments } = config;
  const { openTokenChain } = await import('@tallystick/chain/evm');
  const { getAddress } = await import('viem/utils');
  const dev = chain.devnet ? await devPlace(config) : null;
  const rpcUrl = chain.rpcUrl ?? dev?.rpcUrl;
  const usdc = payments.usdc ?? dev?.usdc;
  const treasury = payments.treasury ?? dev?.treasury;
  if (rpcUrl === undefined || usdc === undefined || treasury === undefined) {
    throw new TallyError(
      'unavailable',
      `No treasury is configured${payments.mode === 'off' ? ', since TALLY_PAYMENTS is off' : ''}: set TALLY_CHAIN_RPC_URL, TALLY_USDC and TALLY_TREASURY to the values of the server.`,
    );
  }
  const token = openTokenChain({
    rpcUrl,
    chainId: chain.id,
    usdc: getAddress(usdc),
    confirmations: payments.confirmations,
    timeoutMs: TIMEOUT_MS,
  });
  return { token, treasury: getAddress(treasury), rpcUrl, chainId: chain.id };
}

/** Where the development chain of a running server is. */
async function devPlace({
  dataDir,
  payments,
}: TreasurySettings): Promise<{ rpcUrl: string; usdc: string; treasury: string }> {
  if (payments.mode === 'off')
    throw new TallyError(
      'unavailable',
      'TALLY_PAYMENTS is off, so there is no USDC on the development chain. Set TALLY_PAYMENTS=x402, as for the server.',
    );
  const path = join(dataDir, 'devnet', 'rpc-url');
  if (!existsSync(path)) {
    throw new TallyError(
      'unavailable',
      'The development chain runs only while the server does: start it with tally serve.',
    );
  }
  const { DEV_USDC } = await import('@tallystick/chain/evm');
  const { devAccount } = await import('@tallystick/chain/evm');
  return {
    rpcUrl: readFileSync(path, 'utf8').trim(),
    usdc: DEV_USDC,
    treasury: devAccount('treasury').address,
  };
}

async function openTreasuryWallet(
  config: TreasurySettings,
  { token, rpcUrl, chainId }: TreasuryConfig,
): Promise<Wallet> {
  const { openWallet } = await import('./payouts/wallet.ts');
  return openWallet({
    rpcUrl,
    chainId,
    confirmations: token.confirmations,
    timeoutMs: TIMEOUT_MS,
    usdc: token.usdc,
    secretKey: await treasuryKey(config),
  });
}

async function treasuryKey({ chain, payments, sales }: TreasurySettings): Promise<Uint8Array> {
  const { treasuryKeyFile: path } = sales;
  if (path !== null && existsSync(path)) return readChainKey(path, KEY);
  if (path !== null) {
    throw new TallyError(
      'unavailable',
      `Paying out needs the treasury’s key, and there is no file ${path}, which TALLY_TREASURY_KEY_FILE names.`,
    );
  }
  if (chain.devnet && payments.treasury === null) {
    const { devSecretKey } = await import('@tallystick/chain/evm');
    const { hexToBytes } = await import('viem/utils');
    return hexToBytes(devSecretKey('treasury'));
  }
  throw new TallyError(
    'unavailable',
    'Paying out needs the treasury’s key: name its file (32 bytes in hex, mode 0600) with TALLY_TREASURY_KEY_FILE.',
  );
}
