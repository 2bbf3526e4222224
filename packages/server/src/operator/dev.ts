import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDevToken } from '@tallystick/chain';
import type { DevToken } from '@tallystick/chain/evm';
import { asUsage, paint, print, printJson, remark, UsageError } from '@tallystick/cli/toolkit';
import { TallyError } from '@tallystick/core';
import { formatUsdc, parseUsdc } from '@tallystick/ledger';
import { serviceConfig } from './files.ts';

/** Nano-USDC in a base unit of the token. */
const NANO_PER_UNIT = 1000n;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;

/** Gives test USDC and ether to an address, or to the wallet alice. */
export async function faucet(
  to: string | undefined,
  { amount = '100', json }: { amount?: string; json?: boolean },
): Promise<void> {
  const units = unitsOf(amount);
  const { token } = await openLocal();
  const address = to ?? token.accounts.alice;
  await token.give(address, { usdc: units, wei: ETHER }).catch(rethrow);
  const has = await holdings(token, address);
  if (json) return printJson({ address, given: formatUsdc(units * NANO_PER_UNIT), ...has });
  print(`${address} has ${has.usdc} test USDC and ${has.ether} test ether.`);
}

/** Lists the wallets of the development chain. */
export async function wallets({ json }: { json?: boolean }): Promise<void> {
  const { token, rpcUrl, chainId } = await openLocal();
  const rows = [];
  for (const [name, address] of Object.entries(token.accounts)) {
    const secret = token.secretKeys[name as keyof DevToken['secretKeys']];
    rows.push({ name, address, secret_key: secret, ...(await holdings(token, address)) });
  }
  if (json) return printJson({ chain_id: chainId, rpc_url: rpcUrl, usdc: token.usdc, wallets: rows });
  print(`chain ${chainId} at ${rpcUrl}, USDC at ${token.usdc}`);
  for (const { name, address, usdc, ether } of rows) {
    print(`  ${name.padEnd(12)} ${address}  ${usdc.padStart(12)} USDC  ${paint('dim', `${ether} ether`)}`);
  }
  remark('Everyone knows the keys of these wallets. --json shows them.');
}

async function holdings(token: DevToken, address: string): Promise<{ usdc: string; ether: string }> {
  const { usdc, wei } = await token.balance(address).catch(rethrow);
  // A gwei relates to an ether as a nano-USDC does to a USDC.
  return { usdc: formatUsdc(usdc * NANO_PER_UNIT), ether: formatUsdc(wei / GWEI) };
}

/** @throws UsageError unless it is an amount of the token, greater than 0 */
function unitsOf(text: string): bigint {
  try {
    const nanoUsdc = parseUsdc(text);
    if (nanoUsdc > 0n && nanoUsdc % NANO_PER_UNIT === 0n) return nanoUsdc / NANO_PER_UNIT;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
  }
  throw new UsageError(
    `An amount of USDC is greater than 0 and has at most 6 decimals, not ${JSON.stringify(text)}.`,
  );
}

/** @throws UsageError unless the service on this machine has a development chain that runs and has test money */
async function openLocal(): Promise<{ token: DevToken; rpcUrl: string; chainId: number }> {
  const { chain, dataDir } = serviceConfig();
  if (!chain.devnet) {
    throw new UsageError(
      'The service on this machine has no development chain (TALLY_DEVNET), and test money exists only there.',
    );
  }
  const file = join(dataDir, 'devnet', 'rpc-url');
  if (!existsSync(file)) {
    throw new UsageError(
      `There is no development chain in ${dataDir}. Start it with TALLY_PAYMENTS=x402 tally serve, or say where it is with TALLY_DATA_DIR.`,
    );
  }
  const rpcUrl = readFileSync(file, 'utf8').trim();
  return { token: await openDevToken(rpcUrl).catch(notRunning), rpcUrl, chainId: chain.id };
}

function notRunning(error: unknown): never {
  if (!(error instanceof TallyError) || error.code !== 'chain_unavailable') throw asUsage(error);
  throw new UsageError(
    'The development chain is not running. It runs while the service does: TALLY_PAYMENTS=x402 tally serve',
    { code: error.code, cause: error },
  );
}

/** A development chain that is not running is no fault of tally. */
function rethrow(error: unknown): never {
  throw asUsage(error);
}
