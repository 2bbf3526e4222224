import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callerAccount } from '@tallystick/ledger';
import { openStore, readConfig } from '@tallystick/server';
import { expect } from 'vitest';
import { serveUntrusted, type Untrusted } from './clients.ts';
import { until } from './log-client.ts';
import { type Env, tally, temporaryFolder } from './process.ts';

/** Public URL of the service, which only its configuration states. */
export const API_URL = 'https://api.example.com';

/** An API key of a caller of the service, and the key's public id. */
export interface Customer {
  readonly key: string;
  readonly id: string;
}

export interface ProductionFront extends Untrusted {
  /** Creates an API key and pays in that much: decimal USDC, or nothing. */
  customer(usdc: string | null): Promise<Customer>;
  /** Pays in for a caller: the id of a key, or a DID. */
  credit(caller: string, usdc: string): Promise<void>;
  /** Balance of a caller in nano-USDC; asserts that nothing is held. */
  balance(caller: string): Promise<bigint>;
}

/** Starts a service in production with keys of its own, whose chain can't be reached, in front of a local upstream. */
export async function serveProduction(env: Env = {}): Promise<ProductionFront> {
  const dataDir = temporaryFolder();
  const postingKey = join(dataDir, 'posting.key');
  writeFileSync(postingKey, randomBytes(32).toString('hex'), { mode: 0o600 });
  const settings: Env = {
    NODE_ENV: 'production',
    TALLY_DATA_DIR: dataDir,
    TALLY_HANDLE: 'acme',
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_RECEIPTS_URL: 'https://receipts.example.com',
    TALLY_API_URL: API_URL,
    TALLY_SITE_URL: 'https://example.com',
    TALLY_CHAIN_ID: '8453',
    TALLY_CHAIN_NETWORK: 'base',
    // Nobody listens there: the log waits, and everything else works.
    TALLY_CHAIN_RPC_URL: 'http://127.0.0.1:9',
    TALLY_POSTING_KEY_FILE: postingKey,
    // There is no load balancer that has to notice that the service ends.
    TALLY_LAME_DUCK_SECONDS: '0',
    ...env,
  };
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tally(args, settings);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await run('keys', 'init', '--root-out', join(temporaryFolder(), 'root.json'));
  const front = await serveUntrusted(settings);
  const store = await openStore(readConfig(settings));
  const credit = async (caller: string, usdc: string): Promise<void> => {
    await run('ledger', 'credit', caller, usdc);
  };
  return {
    ...front,
    credit,
    async customer(usdc) {
      const made = JSON.parse(await run('apikey', 'create', '--tier', 'pro', '--json')) as Customer;
      if (usdc !== null) await credit(made.id, usdc);
      return made;
    },
    async balance(caller) {
      // The service holds a slice of a balance until a second after the last call.
      const isFree = ({ reserved }: { reserved: bigint }): boolean => reserved === 0n;
      return (await until(() => store.ledger.balance(callerAccount(caller)), isFree)).balance;
    },
    async close() {
      await store.close();
      return front.close();
    },
  };
}
