import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { didSvc, TallyError, toBase64url } from '@tallystick/core';
import type { Logger } from 'pino';
import { type Agents, createAgents } from './agents/agents.ts';
import { createAnchorMetrics } from './anchor-metrics.ts';
import { type ApiKeys, createApiKeys } from './api-keys/authenticate.ts';
import type { Chain } from './chain/chain.ts';
import { createPostingKey, readPostingKey } from './chain/posting-key.ts';
import { type Callers, createCallers } from './compute/caller.ts';
import { createFreeReads, type FreeReads } from './compute/free-reads.ts';
import { type Compute, openCompute } from './compute/open.ts';
import type { Config, Keyring as KeyringConfig } from './config.ts';
import { type Clients, createClients } from './http/client.ts';
import { createTurns, type Turns } from './http/turns.ts';
import { createKeyring } from './issuers/keyring.ts';
import { writeFirstKeyring } from './issuers/keyring-file.ts';
import { type OwnIssuer, openOwnIssuer } from './issuers/own-issuer.ts';
import { createRegistry, type Registry } from './issuers/registry.ts';
import { recordAnchors, refreshTrust } from './issuers/trust-bundle.ts';
import { openTrustService, type TrustService } from './issuers/trust-service.ts';
import type { AnchorLog } from './log/anchor-log.ts';
import { openAnchorLog } from './log/open-log.ts';
import { repeat } from './log/repeat.ts';
import { createLogger, createMetrics, type Metrics } from './observability.ts';
import { purgeExpired } from './receipts/retention.ts';
import { createStatus, type StatusService } from './status/status.ts';
import type { Store } from './store/store.ts';
import { sweepRooms } from './tenants/sweep.ts';
import { createTenants, type Tenants } from './tenants/tenants.ts';

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
  readonly apiKeys: ApiKeys;
  readonly tenants: Tenants;
  readonly agents: Agents;
  readonly callers: Callers;
  readonly freeReads: FreeReads;
  readonly compute: Compute;
  readonly log: AnchorLog;
  /** The public key of the log: 32 bytes. */
  readonly logKey: Uint8Array;
  /** Where roots are posted; null where they are not. */
  readonly chain: Chain | null;
  readonly status: StatusService;
  /** Idempotent requests that may not run beside themselves, by their scope. */
  readonly turns: Turns;
  /** Brings the metrics up to date that are looked at now and then. */
  readonly measure: () => Promise<void>;
  /** What `/readyz` says, by part: `ok`, or what is wrong. */
  readonly ready: () => Promise<Record<string, string>>;
  /** Stops the timers and lets go of the log, of the store after its last commit, and of a development chain. */
  readonly close: () => Promise<void>;
}

const KEY_REFRESH_MS = 1000;
const WALLET_MS = 60_000;
const CHAIN_TIMEOUT_MS = 10_000;
/** What the posting account of a development chain starts with: 10 ether. */
const DEVNET_WEI = 10n ** 19n;
const PURGE_MS = 3_600_000;
const EXPIRE_MS = 60_000;

/** Opens the database, the keys, the chain and the log. In development a keyring is made where there is none. */
export async function openServices(config: Config, clock: () => number = Date.now): Promise<Services> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    return { ...(await openAll(config, clock, closing)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param closing gets what is to be closed, in the order of opening */
async function openAll(
  config: Config,
  clock: () => number,
  closing: (() => Promise<void>)[],
): Promise<Omit<Services, 'close'>> {
  const logger = createLogger(config.logLevel);
  const metrics = createMetrics();
  const anchorMetrics = createAnchorMetrics(metrics.registry);
  const passphrase = readPassphrase(config.keyring);
  const did = didSvc(config.handle);
  if (config.mode === 'development' && !existsSync(config.keyring.path)) {
    writeFirstKeyring(config.keyring.path, await createKeyring(did, clock()), passphrase);
  }
  const issuer = await openOwnIssuer(config.keyring.path, did, passphrase);
  const chain = await openChain(config, logger, closing);
  const store = await openStore(config);
  closing.push(() => store.close());
  const logSigner = issuer.signer('log');
  const log = await openAnchorLog({
    store: store.log,
    signer: () => issuer.signer('log'),
    origin: config.log.origin,
    originIsExplicit: !config.log.originDerived,
    chain,
    chainId: config.chain.id,
    network: config.chain.network,
    period: config.log.periodSeconds,
    clock,
    logger,
    metrics: anchorMetrics,
    witnesses: config.log.witnesses,
    fetch: globalThis.fetch,
  });
  closing.push(() => log.close());

  await recordAnchors(store, {
    log: { origin: log.origin, key_id: logSigner.keyId, public_key: toBase64url(logSigner.publicKey) },
    chain: chain && { network: chain.network, chain_id: chain.chainId, address: chain.address },
  });
  await refreshTrust(store, issuer.keyring, clock());
  const trust = await openTrustService(store, issuer);
  await purgeExpired(store, clock());

  const careful = (what: string, work: () => Promise<void>) => async (): Promise<void> =>
    work().catch((error: unknown) => logger.error({ err: error }, `${what} failed`));
  const askBalance = careful('asking for the balance', async () => {
    if (chain !== null) await anchorMetrics.wallet(chain);
  });
  const stops = [
    repeat(
      KEY_REFRESH_MS,
      careful('refreshing keys and trust', async () => {
        if (await issuer.refresh()) await refreshTrust(store, issuer.keyring, clock());
        await trust.refresh();
      }),
    ),
    repeat(
      PURGE_MS,
      careful('deleting what has expired', async () => {
        await purgeExpired(store, clock());
        await sweepRooms({ store, issuer, clock }, clock());
        await refreshTrust(store, issuer.keyring, clock());
      }),
    ),
    repeat(
      EXPIRE_MS,
      careful('giving back what was put aside', async () => {
        const now = Math.floor(clock() / 1000);
        while ((await store.ledger.expireReservations(now)) > 0);
      }),
    ),
    repeat(WALLET_MS, askBalance),
  ];
  const asked = askBalance();
  closing.push(async () => {
    await Promise.all([asked, ...stops.map((stop) => stop())]);
  });

  const compute = openCompute({ config, store, issuer, log, registry: metrics.registry, clock, logger });
  closing.push(() => compute.close());
  const { catalogue, health } = compute.pipeline;
  const status = createStatus({
    store,
    issuer,
    log,
    service: config.receiptsUrl,
    period: config.log.periodSeconds,
    posts: chain !== null,
    modelAvailable: () => catalogue.models.some((model) => model.kind === 'chat' && health.available(model)),
    clock,
    logger,
  });
  closing.push(() => status.close());
  const registry = createRegistry(store, issuer, clock);
  const clients = createClients(config.trustedProxies);
  const apiKeys = createApiKeys(store, issuer);
  const agents = createAgents({ config, store, registry, clock });
  const development = config.mode === 'development';

  return {
    config,
    clock,
    logger,
    metrics,
    store,
    issuer,
    trust,
    registry,
    clients,
    apiKeys,
    tenants: createTenants(store, apiKeys),
    agents,
    callers: createCallers({ agents, apiKeys }, development),
    freeReads: createFreeReads(
      { agents, apiKeys, clients, store, clock },
      { perDay: config.freeReadPerDay, development },
    ),
    compute,
    log,
    logKey: logSigner.publicKey,
    chain,
    status,
    turns: createTurns(),
    measure: careful('measuring', async () => {
      await compute.measure();
      anchorMetrics.status(await log.status());
      anchorMetrics.posting((await store.log.newestPosting())?.state ?? null);
    }),
    ready: async () => ({
      store: await store.ping().then(
        () => 'ok',
        () => 'unreachable',
      ),
      log: await log.ready(),
      trust:
        trust.bundle() === null ? 'no trust bundle is published: see tally trust draft, sign, publish' : 'ok',
    }),
  };
}

/**
 * The chain that the configuration names, a development chain where it asks for one, or null. In development a
 * posting key is made where there is none.
 * @throws unavailable without a posting key, invalid_field for a malformed one; chain_unavailable, of a development chain
 */
async function openChain(
  { mode, dataDir, chain: { id, network, rpcUrl, devnet, postingKeyFile, finality } }: Config,
  logger: Logger,
  closing: (() => Promise<void>)[],
): Promise<Chain | null> {
  if (rpcUrl === null && !devnet) return null;
  if (mode === 'development' && !existsSync(postingKeyFile)) createPostingKey(postingKeyFile);
  if (!existsSync(postingKeyFile)) {
    throw new TallyError(
      'unavailable',
      `There is no posting key at ${postingKeyFile}: 32 random bytes in hex.`,
    );
  }
  const secretKey = readPostingKey(postingKeyFile);
  const { openEvmChain } = await import('./chain/evm.ts');
  const open = (url: string): Chain =>
    openEvmChain({ rpcUrl: url, chainId: id, network, secretKey, finality, timeoutMs: CHAIN_TIMEOUT_MS });
  if (rpcUrl !== null) return open(rpcUrl);
  const { startDevnet } = await import('./chain/devnet.ts');
  const started = await startDevnet({ dataDir, chainId: id, logger });
  closing.push(() => started.stop());
  const chain = open(started.rpcUrl);
  await started.fund(chain.address, DEVNET_WEI);
  return chain;
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
