import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { didSvc, type Payee, TallyError, toBase64url } from '@tallystick/core';
import type { Logger } from 'pino';
import { type Agents, createAgents } from './agents/agents.ts';
import { createAnchorMetrics } from './anchor-metrics.ts';
import { type ApiKeys, createApiKeys } from './api-keys/authenticate.ts';
import type { Chain } from './chain/chain.ts';
import { createPostingKey, readPostingKey } from './chain/posting-key.ts';
import { type Callers, createCallers } from './compute/caller.ts';
import { createFreeReads, type FreeReads } from './compute/free-reads.ts';
import { type Compute, openCompute } from './compute/open.ts';
import { type Config, type Keyring as KeyringConfig, urlsOf } from './config.ts';
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
import type { Money } from './payments/chain/open.ts';
import { createKeySales, type KeySales } from './payments/keys/issue.ts';
import type { TreasuryService } from './payments/treasury/open.ts';
import type { Payments } from './payments/x402/payments.ts';
import { pricesValidFrom } from './receipts/price-ladder.ts';
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
  /** Where money moves; null with payments off. */
  readonly money: Money | null;
  /** x402; null with payments off. */
  readonly payments: Payments | null;
  /** Keys that are paid for. */
  readonly keySales: KeySales;
  /** What comes to the treasury and leaves it; null with payments off. */
  readonly treasury: TreasuryService | null;
  /** Since when the prices are what they are, in unix seconds. */
  readonly pricesValidFrom: number;
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
const SWEEP_MS = 30_000;
/** Claiming costs gas, and a channel's payer can take back what is not claimed 15 minutes after asking for it. */
const COLLECT_MS = 300_000;

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
  const { chain, rpcUrl } = await openChain(config, logger, closing);
  const money = await openMoney(config, rpcUrl);
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
    payees: money === null ? [] : [payeeOf(money)],
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
  const payments = await openX402({ config, money, store, issuer, clock, logger });
  if (payments !== null) {
    await careful('sweeping payments', () => payments.sweep())();
    const stopPayments = [
      repeat(
        SWEEP_MS,
        careful('sweeping payments', () => payments.sweep()),
      ),
      repeat(
        COLLECT_MS,
        careful('collecting vouchers', async () => void (await payments.collect())),
      ),
    ];
    closing.push(async () => {
      await Promise.all(stopPayments.map((stop) => stop()));
    });
  }
  const treasury =
    money &&
    (await import('./payments/treasury/open.ts')).openTreasury({
      config,
      store,
      issuer,
      registry,
      money,
      ownerOf: async (transfer) => payments && payments.ownerOf(transfer),
      clock,
      logger,
    });
  if (treasury !== null) closing.push(() => treasury.close());
  // What the treasury holds is read before anything is paid into it, so that no payment counts twice.
  if (treasury !== null) await careful('reading the treasury', () => treasury.watch())();
  const clients = createClients(config.trustedProxies);
  const apiKeys = createApiKeys(store, issuer, clock);
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
    callers: createCallers({ agents, apiKeys }, { development, payments: payments !== null }),
    freeReads: createFreeReads(
      { agents, apiKeys, clients, store, payments, clock },
      { perDay: config.freeReadPerDay, development },
    ),
    compute,
    log,
    logKey: logSigner.publicKey,
    chain,
    money,
    payments,
    keySales: createKeySales({ store, issuer, prices: config.sales.prices, clock }),
    treasury,
    pricesValidFrom: await pricesValidFrom(store, { config, money, now: clock() }),
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
): Promise<OpenedChain> {
  if (rpcUrl === null && !devnet) return { chain: null, rpcUrl: null };
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
  if (rpcUrl !== null) return { chain: open(rpcUrl), rpcUrl };
  const { startDevnet } = await import('./chain/devnet.ts');
  const started = await startDevnet({ dataDir, chainId: id, logger });
  closing.push(() => started.stop());
  const chain = open(started.rpcUrl);
  await started.fund(chain.address, DEVNET_WEI);
  return { chain, rpcUrl: started.rpcUrl };
}

interface OpenedChain {
  readonly chain: Chain | null;
  readonly rpcUrl: string | null;
}

const payeeOf = ({ chainId, token, treasury }: Money): Payee => ({
  chain_id: chainId,
  asset: 'USDC',
  token: token.usdc,
  decimals: 6,
  address: treasury,
});

/** What pays speaks to the chain too, and is loaded only where somebody pays. */
async function openMoney(config: Config, rpcUrl: string | null): Promise<Money | null> {
  if (config.payments.mode === 'off' || rpcUrl === null) return null;
  return (await import('./payments/chain/open.ts')).openMoney(config, rpcUrl);
}

/** The x402 packages are loaded only where somebody pays. */
async function openX402({
  config,
  money,
  ...means
}: Pick<Services, 'config' | 'money' | 'store' | 'issuer' | 'clock' | 'logger'>): Promise<Payments | null> {
  if (money === null) return null;
  const { payments, compute } = config;
  const { openPayments } = await import('./payments/x402/open.ts');
  return openPayments({
    ...means,
    money,
    facilitatorUrl: payments.facilitatorUrl,
    waitMs: payments.waitSeconds * 1_000,
    urlOf: urlsOf(config),
    maxCallMs: compute.maxCallMs,
  });
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
