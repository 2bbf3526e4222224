import {
  BudgetNews,
  createCallers,
  createClients,
  OperatorKeyWatch,
  openWebhooks,
  operatorGate,
} from '@tallystick/callers';
import type { Money } from '@tallystick/chain/evm';
import { didSvc, type Payee, toBase64url } from '@tallystick/core';
import { createFreeReads, openCompute, purgeCalls, Shadows } from '@tallystick/inference';
import {
  createRegistry,
  openOwnIssuer,
  openTrustService,
  RegistryNews,
  recordAnchors,
  refreshTrust,
  remoteKeys,
} from '@tallystick/issuers';
import { createBackground, createKeyedMutex, createLogStorms, type LogStorms } from '@tallystick/kit';
import { createClaims, openProcessLease, returnHoldsOfTheDead } from '@tallystick/ledger';
import { CHECKPOINT_SECONDS, type LogStatus, openAnchorLog } from '@tallystick/log';
import { createKeySales, PAYMENT_SECONDS, type Payments } from '@tallystick/payments';
import {
  createVerificationQueue,
  type PurgeStep,
  purgeExpired,
  ReceiptListing,
  settlementReceipts,
  signDailyHeads,
  sweepRooms,
  Unstored,
} from '@tallystick/receipts';
import type { Logger } from 'pino';
import { type Config, urlsOf } from '../config/config.ts';
import { Tails } from '../http/tails.ts';
import { createAnchorMetrics } from '../observability/anchor-metrics.ts';
import { LogStream } from '../observability/log-stream.ts';
import { boundedMeasure } from '../observability/measuring.ts';
import { createLogger, createMetrics, type Metrics } from '../observability/observability.ts';
import { createServiceMetrics, createStoreMetrics } from '../observability/service-metrics.ts';
import type { Telemetry } from '../observability/tracing.ts';
import { openPriceLadder, type PriceLadder } from '../prices/price-ladder.ts';
import type { Services } from '../services.ts';
import { forgetStatus, recordStatus } from '../status/history.ts';
import { findModels } from '../status/models.ts';
import { probeModels } from '../status/probe-models.ts';
import { createStatus } from '../status/status.ts';
import { Closing } from './closing.ts';
import { openWitnesses } from './local-witnesses.ts';
import {
  makeFirstKeyring,
  openChain,
  openLogStorage,
  openStore,
  requirePrivateFiles,
  requireWritable,
  waitForDatabase,
} from './opening.ts';
import { Readiness } from './readiness.ts';

const KEY_REFRESH_MS = 1000;
const LEARN_MS = 1000;
const CONTENT_MS = 60_000;
const LIST_MS = 500;
const USE_MS = 5_000;
const WALLET_MS = 60_000;
const PURGE_MS = 3_600_000;
const FORGET_MS = 60_000;
const SWEEP_MS = 30_000;
/** Claiming costs gas, but a channel's payer can take back what is not claimed 15 minutes after asking for it. */
const COLLECT_MS = 300_000;

/** One of several processes that share the port. */
interface Worker {
  readonly number: number;
  /** How many workers had to be replaced until now. */
  readonly restarts: number;
}

/** Opens the database, the keys, the chain and the log. In development a keyring is made where there is none. */
export async function openServices(
  config: Config,
  clock: () => number = Date.now,
  worker: Worker | null = null,
): Promise<Services> {
  const closing = new Closing();
  try {
    const services = await openAll(config, clock, closing, worker);
    // Done first, so that another process can lead the log whatever hangs here.
    closing.push(() => services.log.resign(), 'giving up the lead of the log', 3_000);
    return { ...services, close: () => closing.run() };
  } catch (error) {
    await closing.run().catch(() => undefined);
    throw error;
  }
}

/** @param closing gets what is to be closed, in the order of opening */
async function openAll(
  config: Config,
  clock: () => number,
  closing: Closing,
  worker: Worker | null,
): Promise<Omit<Services, 'close'>> {
  const startedAt = clock();
  const metrics = createMetrics(worker?.restarts);
  const logger = createLogger(
    config.logLevel,
    new LogStream(2, (lines) => metrics.droppedLines(lines)),
    worker?.number,
  );
  const storms = createLogStorms(logger);
  const anchorMetrics = createAnchorMetrics(metrics.registry);
  const { passphrase } = config.keyring;
  requireWritable(config);
  requirePrivateFiles(config, logger);
  await waitForDatabase(config, logger);
  if (config.mode === 'development') await makeFirstKeyring(config, passphrase, clock());
  const did = config.handle === null ? null : didSvc(config.handle);
  const issuer = await openOwnIssuer(config.keyring.path, did, passphrase, {
    openRemoteKey: remoteKeys(config.keyring.remote, globalThis.fetch),
    pqSignatures: config.keyring.pqSignatures,
  });
  const { chain, rpcUrl, chainState } = await openChain(config, logger, closing);
  const money = await openMoney(config, rpcUrl);
  const storeMetrics = createStoreMetrics(metrics.registry);
  const listing = new ReceiptListing({ clock, dropped: storeMetrics.unlisted });
  const store = await openStore(config, {
    ...storeMetrics,
    storedReceipt: (receipt, charged) => listing.add(receipt, charged),
  });
  closing.push(() => store.close(), 'the database', 12_000);
  const lease = await openProcessLease({ store, seconds: config.processLeaseSeconds, logger });
  closing.push(() => lease.close(), 'ending the process lease');
  const claims = createClaims({ store, lease, clock, logger });
  const logSigner = issuer.signer('log');
  const origin = (await store.log.identity())?.origin ?? config.log.origin;
  const logKey = { origin, publicKey: logSigner.publicKey };
  const witnesses = await openWitnesses(config, logKey, clock);
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
    witnesses,
    fetch: globalThis.fetch,
    storage: await openLogStorage(config),
  });
  closing.push(() => log.close(), 'the steps of the log', 12_000);

  await recordAnchors(
    store,
    {
      log: { origin: log.origin, key_id: logSigner.keyId, public_key: toBase64url(logSigner.publicKey) },
      chain: chain && { network: chain.network, chain_id: chain.chainId, address: chain.address },
      payees: money === null ? [] : [payeeOf(money)],
    },
    clock(),
  );
  await refreshTrust(store, issuer.keyring, clock());
  const trust = await openTrustService(store, issuer);
  const expiring = [store.compression, store.learning, store.receiptList, store.sessionList].map(
    (kept): PurgeStep =>
      (now, most) =>
        kept.purge(now, most),
  );
  await purgeExpired(store, clock(), expiring);
  // After an upgrade these may have years to delete, for which no start waits.
  const purges: readonly PurgeStep[] = [
    ...expiring,
    (now, most) => purgeCalls(store.calls, config.compute.callListDays, now, most),
    (now, most) => store.log.purgeCheckpoints(now - CHECKPOINT_SECONDS, most),
    (now, most) => store.payments.purge(now - PAYMENT_SECONDS, most),
    (_, most) => store.giveBack(most),
  ];
  const closes = new AbortController();
  const purge = async (): Promise<void> => void (await purgeExpired(store, clock(), purges, closes.signal));

  const background = createBackground(logger);
  closing.push(() => background.close(), 'the housekeeping');
  const firstPurge = background.once('deleting what has expired', purge);
  closing.push(() => {
    closes.abort();
    return firstPurge;
  }, 'deleting what has expired');
  closing.push(() => listing.close(), 'listing receipts');
  listing.open(store);
  background.every(LIST_MS, 'listing receipts', () => listing.flush());
  // Often, since a count looks at each receipt that has expired and is listed still.
  background.every(FORGET_MS, 'taking expired receipts off the lists', () => listing.forget());
  const news = new RegistryNews();
  const askBalance = async (): Promise<void> => {
    if (chain !== null) await anchorMetrics.wallet(chain);
  };
  let keyringReadable = true;
  /** Whether something has changed that is to be published, also where the last try to do so failed. */
  let bundleIsDue = false;
  const refreshKeys = async (passphrase?: string | null): Promise<void> => {
    const changed = await issuer.refresh(passphrase).catch((error: unknown) => {
      keyringReadable = false;
      throw error;
    });
    keyringReadable = true;
    bundleIsDue ||= changed || news.due(clock());
    if (bundleIsDue) await refreshTrust(store, issuer.keyring, clock());
    bundleIsDue = false;
    await trust.refresh();
  };
  background.every(KEY_REFRESH_MS, 'refreshing keys and trust', () => refreshKeys());
  background.every(PURGE_MS, 'deleting what has expired', async () => {
    await purge();
    await listing.complete();
    await sweepRooms({ store, issuer, clock }, clock());
    await signDailyHeads({ store, issuer, log, clock });
    await forgetStatus(store, clock());
    await refreshTrust(store, issuer.keyring, clock());
  });
  // At least twice in three leases: with the lease itself, well within the promised minute.
  background.every((config.processLeaseSeconds * 2_000) / 3, 'giving back what was put aside', async () => {
    await claims.sweep();
    await returnHoldsOfTheDead(store, Math.floor(clock() / 1000));
  });
  background.every(WALLET_MS, 'asking for the balance', askBalance);
  const firstCheck = background.once('asking for the balance', askBalance);
  closing.push(() => firstCheck, 'asking for the balance');

  const budgets = new BudgetNews({ webhooks: store.webhooks, clock, logger });
  closing.push(() => budgets.close(), 'telling webhooks of budgets');
  const compute = openCompute({
    config,
    store,
    process: lease.id,
    issuer,
    log,
    budgets,
    registry: metrics.registry,
    clock,
    logger,
    storms,
  });
  closing.push(() => compute.close(), 'billing the streams that were cut', 8_000);
  const learn = (): Promise<void> => compute.learn();
  await background.once('reading what was learned', learn);
  background.every(LEARN_MS, 'sharing what was learned', learn);
  background.every(CONTENT_MS, 'deleting prompts and answers that were kept long enough', () =>
    compute.contents.purge(),
  );
  const status = createStatus({
    store,
    issuer,
    log,
    service: config.receiptsUrl,
    period: config.log.periodSeconds,
    posts: chain !== null,
    models: async (signal) => {
      const { pipeline } = compute;
      await probeModels(pipeline, { paid: config.compute.probesProviders, signal });
      return findModels(pipeline);
    },
    clock,
    logger,
    record: (found) => recordStatus(store, found),
  });
  closing.push(() => status.close(), 'the status');
  const webhooks = openWebhooks({
    store,
    issuer,
    lowBalance: config.sales.lowBalance,
    mode: config.mode,
    clock,
    logger,
  });
  closing.push(() => webhooks.close(), 'the webhooks', 12_000);
  const mutex = createKeyedMutex();
  const registry = createRegistry(store, issuer, clock, () => news.changed());
  const payments = await openX402({ config, money, store, issuer, clock, logger, claims });
  if (payments !== null) {
    await background.once('sweeping payments', () => payments.sweep());
    const paying = createBackground(logger);
    paying.every(SWEEP_MS, 'sweeping payments', () => payments.sweep());
    paying.every(COLLECT_MS, 'collecting vouchers', async () => void (await payments.collect()));
    closing.push(() => paying.close(), 'the payments');
  }
  const openLadder = (prices: Config['sales']['prices']): Promise<PriceLadder> =>
    openPriceLadder(store, {
      config: { ...config, sales: { ...config.sales, prices } },
      money,
      now: clock(),
    });
  let sold = config.sales.prices;
  let { attestations } = config;
  let ladder = await openLadder(sold);
  const treasury =
    money &&
    (await import('@tallystick/payments/treasury')).openTreasury({
      config,
      store,
      issuer,
      registry,
      money,
      prices: () => sold,
      ownerOf: async (transfer) => payments && payments.ownerOf(transfer),
      clock,
      logger,
    });
  if (treasury !== null) closing.push(() => treasury.close(), 'the treasury');
  // The treasury's holdings are read before the first payment, so that no payment counts twice.
  if (treasury !== null) await background.once('reading the treasury', () => treasury.watch());
  const clients = createClients(config.trustedProxies);
  const callers = createCallers(
    { config, store, issuer, registry, clients, clock },
    { development: config.mode === 'development', payments: payments !== null },
  );
  const noteUses = (): Promise<void> => store.apiKeys.used(callers.takeUses());
  background.every(USE_MS, 'noting when keys were used', noteUses);
  closing.push(() => background.once('noting when keys were used', noteUses), 'noting when keys were used');
  const operatorKeys = new OperatorKeyWatch(store, logger);
  const watchKeys = (): Promise<void> => operatorKeys.look();
  await background.once('reading the keys of operators', watchKeys);
  background.every(USE_MS, 'reading the keys of operators', watchKeys);
  const verificationQueue = createVerificationQueue();
  const logStatus = async (): Promise<LogStatus> => {
    const now = await log.status();
    anchorMetrics.status(now);
    return now;
  };
  const readiness = new Readiness({
    store,
    log: { status: logStatus, ready: () => log.ready() },
    period: chain === null ? null : config.log.periodSeconds,
    chain: chainState,
    clock,
  });
  await readiness.start();
  closing.push(() => readiness.close(), 'watching what it does');
  const trustState = (): string => {
    if (!keyringReadable) return 'the keyring was changed and can’t be read: see the log of this process';
    return trust.bundle() === null
      ? 'no trust bundle is published: see tally trust draft, sign and publish'
      : 'ok';
  };
  const ready = async (): Promise<Record<string, string>> => ({
    ...(await readiness.checks()),
    trust: trustState(),
  });
  const queues: Services['queues'] = () => ({
    ...store.waiting(),
    compression: compute.waiting(),
    verification: verificationQueue.waiting,
  });
  const measureProcess = boundedMeasure(
    createServiceMetrics(metrics.registry, {
      queues,
      ready,
      trustExpiry: () => {
        const published = trust.bundle();
        return published && Date.parse(published.bundle.expires_at);
      },
      dataDir: config.database.kind === 'sqlite' ? config.dataDir : null,
    }),
    () => undefined,
  );
  const measureDatabase = boundedMeasure(
    async () => {
      await compute.measure();
      await logStatus();
      anchorMetrics.posting((await store.log.newestPosting())?.state ?? null);
    },
    () => anchorMetrics.read(),
  );
  const measure = async (): Promise<void> => void (await Promise.all([measureProcess(), measureDatabase()]));
  const telemetry = await openTelemetry(config, { metrics, measure, logger, storms });
  if (telemetry !== null) closing.push(() => telemetry.close(), 'telemetry');

  return {
    config: { ...config, log: { ...config.log, witnesses } },
    clock,
    logger,
    metrics,
    store,
    lease,
    issuer,
    trust,
    registry,
    clients,
    callers,
    freeReads: createFreeReads(
      { callers, clients, store, payments, clock },
      { perDay: config.freeReadPerDay, perDayByAddress: config.freeReadPerDayByAddress },
    ),
    compute,
    shadows: new Shadows({ callerOf: callers.callerOfKey, logger, storms }),
    log,
    logKey: logSigner.publicKey,
    chain,
    money,
    payments,
    keySales: createKeySales({ store, issuer, prices: () => sold, clock }),
    treasury,
    ladder: () => ladder,
    status,
    webhooks,
    operators: operatorGate({ store, issuer }),
    startedAt,
    queues,
    claims,
    tails: new Tails(clock),
    endCalls: () => compute.endCalls(),
    attestations: () => attestations,
    reload: async ({ keyring, compute: settings, sales: { prices }, attestations: files }) => {
      await refreshKeys(keyring.passphrase);
      const later = await openLadder(prices);
      compute.reload(settings);
      sold = prices;
      ladder = later;
      attestations = files;
    },
    mutex,
    unstored: new Unstored(),
    verificationQueue,
    measure,
    ready,
    tracing: telemetry?.tracing ?? null,
    storms,
  };
}

const payeeOf = ({ chainId, token, treasury }: Money): Payee => ({
  chain_id: chainId,
  asset: 'USDC',
  token: token.usdc,
  decimals: 6,
  address: treasury,
});

/** Opens payments. They use the chain too, so it is loaded only if they are configured. */
async function openMoney(config: Config, rpcUrl: string | null): Promise<Money | null> {
  if (config.payments.mode === 'off' || rpcUrl === null) return null;
  return (await import('@tallystick/chain/evm')).openMoney(config, rpcUrl);
}

/** Opens x402. Its packages are loaded only if payments are configured. */
async function openX402({
  config,
  money,
  ...dependencies
}: Pick<
  Services,
  'config' | 'money' | 'store' | 'issuer' | 'clock' | 'logger' | 'claims'
>): Promise<Payments | null> {
  if (money === null) return null;
  const { payments, compute } = config;
  const { openPayments } = await import('@tallystick/payments/x402');
  return openPayments({
    ...dependencies,
    money,
    facilitatorUrl: payments.facilitatorUrl,
    waitMs: payments.waitSeconds * 1_000,
    urlOf: urlsOf(config),
    maxCallMs: compute.maxCallMs,
    settlementReceipt: settlementReceipts({
      ...dependencies,
      network: money.token.network,
      operator: config.operator,
    }),
  });
}

/** OpenTelemetry's packages are loaded only where something is sent. */
async function openTelemetry(
  { telemetry }: Config,
  {
    metrics: { registry },
    ...means
  }: {
    readonly metrics: Metrics;
    readonly measure: () => Promise<void>;
    readonly logger: Logger;
    readonly storms: LogStorms;
  },
): Promise<Telemetry | null> {
  if (telemetry === null) return null;
  const { openTelemetry: open } = await import('../observability/telemetry.ts');
  return open({ ...telemetry, ...means, registry });
}
