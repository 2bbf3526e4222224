import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { didSvc, TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import type { Config, Keyring as KeyringConfig } from './config.ts';
import { type Clients, createClients } from './http/client.ts';
import { createKeyring } from './issuers/keyring.ts';
import { writeFirstKeyring } from './issuers/keyring-file.ts';
import { type OwnIssuer, openOwnIssuer } from './issuers/own-issuer.ts';
import { createRegistry, type Registry } from './issuers/registry.ts';
import { refreshTrust } from './issuers/trust-bundle.ts';
import { openTrustService, type TrustService } from './issuers/trust-service.ts';
import { createLogger, createMetrics, type Metrics } from './observability.ts';
import { purgeExpired } from './receipts/retention.ts';
import type { Store } from './store/store.ts';

/** Everything that routes work with, wired by the configuration. `clock` gives Unix milliseconds. */
export interface Services {
  readonly config: Config;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly issuer: OwnIssuer;
  readonly trust: TrustService;
  readonly registry: Registry;
  readonly clients: Clients;
  /** What `/readyz` says, by part: `ok`, or what is wrong. */
  readonly ready: () => Promise<Record<string, string>>;
  /** Stops the timers and closes the store after its last commit. */
  readonly close: () => Promise<void>;
}

const KEY_REFRESH_MS = 1000;
const PURGE_MS = 3_600_000;

/** Opens the database and the keys. In development a keyring is made where there is none. */
export async function openServices(config: Config, clock: () => number = Date.now): Promise<Services> {
  const logger = createLogger(config.logLevel);
  const store = await openStore(config);
  const passphrase = readPassphrase(config.keyring);
  const did = didSvc(config.handle);
  if (config.mode === 'development' && !existsSync(config.keyring.path)) {
    writeFirstKeyring(config.keyring.path, await createKeyring(did, clock()), passphrase);
  }
  const issuer = await openOwnIssuer(config.keyring.path, did, passphrase);
  await refreshTrust(store, issuer.keyring, clock());
  const trust = await openTrustService(store, issuer);

  const upkeep = [
    repeat(KEY_REFRESH_MS, logger, 'refreshing keys and trust', async () => {
      if (await issuer.refresh()) await refreshTrust(store, issuer.keyring, clock());
      await trust.refresh();
    }),
    repeat(PURGE_MS, logger, 'deleting what has expired', async () => {
      await purgeExpired(store, clock());
      await refreshTrust(store, issuer.keyring, clock());
    }),
  ];
  await purgeExpired(store, clock());

  return {
    config,
    clock,
    logger,
    metrics: createMetrics(),
    store,
    issuer,
    trust,
    registry: createRegistry(store, issuer, clock),
    clients: createClients(config.trustedProxies),
    ready: async () => ({
      store: await store.ping().then(
        () => 'ok',
        () => 'unreachable',
      ),
      trust:
        trust.bundle() === null ? 'no trust bundle is published: see tally trust draft, sign, publish' : 'ok',
    }),
    async close() {
      for (const stop of upkeep) stop();
      await store.close();
    },
  };
}

/** The adapter that the configuration names; each is loaded only when it is used. */
export async function openStore({ database, dataDir }: Pick<Config, 'database' | 'dataDir'>): Promise<Store> {
  if (database.kind === 'postgres')
    return (await import('./store/postgres.ts')).openPostgresStore(database.url);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return (await import('./store/sqlite.ts')).openSqliteStore(database.path);
}

/**
 * The keyring's passphrase, or null where the keyring is not encrypted.
 * @throws invalid_field when its file is empty: an empty passphrase would only look like protection
 */
export function readPassphrase({ passphrase }: KeyringConfig): string | null {
  if (passphrase === null) return null;
  if ('value' in passphrase) return passphrase.value;
  const text = readFileSync(passphrase.file, 'utf8').trimEnd();
  if (text !== '') return text;
  throw new TallyError('invalid_field', `The passphrase file ${passphrase.file} is empty.`, {
    field: 'keyring',
  });
}

/** Runs `work` every `ms`, never twice at once, and lets the process end in between. */
function repeat(ms: number, logger: Logger, what: string, work: () => Promise<void>): () => void {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    work()
      .catch((error: unknown) => logger.error({ err: error }, `${what} failed`))
      .finally(() => {
        running = false;
      });
  }, ms);
  timer.unref();
  return () => clearInterval(timer);
}
