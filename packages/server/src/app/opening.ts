import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '@tallystick/chain';
import { createPostingKey, readPostingKey } from '@tallystick/chain';
import { TallyError } from '@tallystick/core';
import { addPqKey, createKeyring, writeFirstKeyring } from '@tallystick/issuers';
import { othersMayRead } from '@tallystick/kit';
import { directoryStorage, type ObjectStorage } from '@tallystick/log';
import type { Store, StoreObserver } from '@tallystick/store';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Closing } from './closing.ts';

const CHAIN_TIMEOUT_MS = 10_000;
/** What the posting account of a development chain starts with: 10 ether. */
const DEVNET_WEI = 10n ** 19n;

/** Checks the data directory first, so that the error names it. @throws unavailable naming the folder */
export function requireWritable({ dataDir, database, chain }: Config): void {
  if (database.kind !== 'sqlite' && !chain.devnet) return;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? '';
    throw new TallyError(
      'unavailable',
      `The data directory ${dataDir} cannot be written (${reason}). Make it writable, or name another with TALLY_DATA_DIR.`,
      { cause },
    );
  }
}

/**
 * Warns of secrets that other users of the machine can read. Files of secrets are often world-readable inside a container, where
 * there are no other users, so only the keyring is refused.
 * @throws invalid_field in production, for the keyring
 */
export function requirePrivateFiles(
  {
    mode,
    keyring: { path },
    exposedFiles,
  }: Pick<Config, 'mode' | 'exposedFiles'> & { readonly keyring: Pick<Config['keyring'], 'path'> },
  logger: { warn(fields: object, message: string): void },
): void {
  for (const file of exposedFiles)
    logger.warn(
      { file },
      `Every user of this machine can read the secret in ${file}. Take that right away: chmod o= ${file}`,
    );
  if (!existsSync(path) || !othersMayRead(path)) return;
  const problem = `Other users can read the keyring ${path}. Make it private: chmod 600 ${path}`;
  if (mode === 'production') throw new TallyError('invalid_field', problem, { field: 'keyring' });
  logger.warn({ file: path }, problem);
}

/**
 * Makes the keyring of a new service. If the database already has a log, its key was lost, and a new one would not
 * help.
 * @throws log_mismatch
 */
export async function makeFirstKeyring(
  config: Config,
  passphrase: string | null,
  now: number,
): Promise<void> {
  const { path, pqSignatures } = config.keyring;
  if (existsSync(path)) return;
  const store = await openStore(config);
  try {
    const log = await store.log.identity();
    if (log !== null && !existsSync(path)) {
      throw new TallyError(
        'log_mismatch',
        `There is no keyring at ${path}, but the database contains the log ${log.origin}, which only the key in its keyring can sign. Restore the keyring, or start with another TALLY_DATA_DIR.`,
      );
    }
    const keyring = await createKeyring(config.handle, now);
    writeFirstKeyring(path, pqSignatures ? addPqKey(keyring, now) : keyring, passphrase);
  } finally {
    await store.close();
  }
}

/**
 * Makes the posting key of a new service. If the database has postings, their account would no longer be the log's, and the log
 * would fork from what it has published.
 * @throws unavailable
 */
async function makeFirstPostingKey(config: Config): Promise<void> {
  const { postingKeyFile: path, devnet } = config.chain;
  if (existsSync(path)) return;
  const store = await openStore(config);
  try {
    if ((await store.log.newestPosting()) !== null) {
      const lost = devnet ? `the key and the folder ${join(config.dataDir, 'devnet')}` : 'the key';
      throw new TallyError(
        'unavailable',
        `There is no posting key at ${path}, but the database has postings of another account. Restore ${lost}, or start with another TALLY_DATA_DIR.`,
      );
    }
  } finally {
    await store.close();
  }
  createPostingKey(path);
}

/**
 * Opens the configured chain, or a development chain if the configuration asks for one; null for none. In development a
 * missing posting key is made.
 * @throws unavailable without a posting key, invalid_field for a malformed one; chain_unavailable, of a development
 * chain
 */
export async function openChain(config: Config, logger: Logger, closing: Closing): Promise<OpenedChain> {
  const { id, network, rpcUrl, devnet, postingKeyFile, finality } = config.chain;
  if (rpcUrl === null && !devnet) return { chain: null, rpcUrl: null, chainState: () => 'ok' };
  if (config.mode === 'development') await makeFirstPostingKey(config);
  if (!existsSync(postingKeyFile)) {
    throw new TallyError(
      'unavailable',
      `There is no posting key at ${postingKeyFile}: 32 random bytes in hex.`,
    );
  }
  const secretKey = readPostingKey(postingKeyFile);
  const { openEvmChain } = await import('@tallystick/chain/evm');
  const open = (url: string): Chain =>
    openEvmChain({ rpcUrl: url, chainId: id, network, secretKey, finality, timeoutMs: CHAIN_TIMEOUT_MS });
  if (rpcUrl !== null) return { chain: open(rpcUrl), rpcUrl, chainState: () => 'ok' };
  const { startDevnet } = await import('@tallystick/chain/evm');
  const started = await startDevnet({ dataDir: config.dataDir, chainId: id, logger });
  closing.push(() => started.stop(), 'the development chain', 10_000);
  const chain = open(started.rpcUrl);
  await started.fund(chain.address, DEVNET_WEI);
  return { chain, rpcUrl: started.rpcUrl, chainState: () => started.state() };
}

interface OpenedChain {
  readonly chain: Chain | null;
  readonly rpcUrl: string | null;
  /** `ok`, or what is wrong with the development chain that this process has started. */
  readonly chainState: () => string;
}

const WAIT_LOG_MS = 10_000;

/**
 * Waits until the database can be reached, and says so now and then in the log.
 * @throws unavailable after `TALLY_DATABASE_WAIT_SECONDS`
 */
export async function waitForDatabase({ database }: Pick<Config, 'database'>, logger: Logger): Promise<void> {
  if (database.kind !== 'postgres') return;
  const { waitForPostgres } = await import('@tallystick/store/postgres');
  let saidAt = -Infinity;
  await waitForPostgres(database.url, database.limits, {
    ms: database.waitMs,
    onWait(reason, leftMs) {
      if (performance.now() - saidAt < WAIT_LOG_MS) return;
      saidAt = performance.now();
      logger.warn({ reason, leftMs: Math.round(leftMs) }, 'waiting for the database');
    },
  });
}

/** Opens the configured database. Only its adapter is loaded. */
export async function openStore(
  { database, dataDir }: Pick<Config, 'database' | 'dataDir'>,
  observer?: StoreObserver,
): Promise<Store> {
  if (database.kind === 'postgres')
    return (await import('@tallystick/store/postgres')).openPostgresStore(
      database.url,
      database.limits,
      observer,
    );
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return (await import('@tallystick/store/sqlite')).openSqliteStore(database.path, observer);
}

/** Opens where the files of the log are stored; null where the database alone has them. The client of S3 is loaded only for a bucket. */
export async function openLogStorage({
  log: { storage },
}: {
  readonly log: Pick<Config['log'], 'storage'>;
}): Promise<ObjectStorage | null> {
  if (storage === null) return null;
  if (storage.kind === 'directory') return directoryStorage(storage.path);
  return (await import('@tallystick/log/s3')).s3Storage(storage, storage);
}
