import { didSvc, type Payee, toBase64url } from '@tallystick/core';
import type { Logger } from 'pino';
import { type Agents, createAgents } from './agents/agents.ts';
import { createAnchorMetrics } from './anchor-metrics.ts';
import { type ApiKeys, createApiKeys } from './api-keys/authenticate.ts';
import type { Chain } from './chain/chain.ts';
import { Closing } from './closing.ts';
import { type Callers, createCallers } from './compute/caller.ts';
import { createFreeReads, type FreeReads } from './compute/free-reads.ts';
import { type Compute, openCompute } from './compute/open.ts';
import { type Config, urlsOf } from './config.ts';
import { type Claims, createClaims } from './http/claims.ts';
import { type Clients, createClients } from './http/client.ts';
import { createTurns, type Turns } from './http/turns.ts';
import { type OwnIssuer, openOwnIssuer } from './issuers/own-issuer.ts';
import { createRegistry, type Registry } from './issuers/registry.ts';
import { RegistryNews } from './issuers/registry-news.ts';
import { recordAnchors, refreshTrust } from './issuers/trust-bundle.ts';
import { openTrustService, type TrustService } from './issuers/trust-service.ts';
import type { AnchorLog } from './log/anchor-log.ts';
import { openAnchorLog } from './log/open-log.ts';
import { repeat } from './log/repeat.ts';
import { LogStream } from './log-stream.ts';
import { boundedLook } from './measuring.ts';
import { createLogger, createMetrics, type Metrics } from './observability.ts';
import { makeFirstKeyring, openChain, openStore, readPassphrase, requireWritable } from './opening.ts';
import type { Money } from './payments/chain/open.ts';
import { createKeySales, type KeySales } from './payments/keys/issue.ts';
import type { TreasuryService } from './payments/treasury/open.ts';
import type { Payments } from './payments/x402/payments.ts';
import { openProcessLease, type ProcessLease, returnHoldsOfTheDead } from './process-lease.ts';
import { Readiness } from './readiness.ts';
import { pricesValidFrom } from './receipts/price-ladder.ts';
import { purgeExpired } from './receipts/retention.ts';
import { findModels } from './status/models.ts';
import { probeModels } from './status/probe-models.ts';
import { createStatus, type StatusService } from './status/status.ts';
import type { Store } from './store/store.ts';
import { sweepRooms } from './tenants/sweep.ts';
import { createTenants, type Tenants } from './tenants/tenants.ts';
import { createVerificationTurns, type VerificationTurns } from './verification/turns.ts';

/** Everything that routes work with, wired by the configuration. `clock` gives Unix milliseconds. */
export interface Services {
  readonly config: Config;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  /** The lease by which other processes see that this one is alive. */
  readonly lease: ProcessLease;
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
  /** Claims on `Idempotency-Key`s, so that only one process carries a request out. */
  readonly claims: Claims;
  /** Idempotent requests that may not run beside themselves, by their scope. */
  readonly turns: Turns;
  readonly verificationTurns: VerificationTurns;
  /** Brings the metrics up to date that are looked at now and then, as far as the database answers within a second. */
  readonly measure: () => Promise<void>;
  /** What `/readyz` says, by part: `ok`, or what is wrong. From memory. */
  readonly ready: () => Promise<Record<string, string>>;
  /** Ends the model calls under way, see `Compute.endCalls`: for a shutdown that waits no longer for them. */
  readonly endCalls: () => Promise<void>;
  /** Stops the timers and lets go of the log, of the store after its last commit, and of a development chain. */
  readonly close: () => Promise<void>;
}

const KEY_REFRESH_MS = 1000;
const WALLET_MS = 60_000;
const PURGE_MS = 3_600_000;
const SWEEP_MS = 30_000;
/** Claiming costs gas, and a channel's payer can take back what is not claimed 15 minutes after asking for it. */
const COLLECT_MS = 300_000;

/** Opens the database, the keys, the chain and the log. In development a keyring is made where there is none. */
export async function openServices(config: Config, clock: () => number = Date.now): Promise<Services> {
  const closing = new Closing();
  try {
    const services = await openAll(config, clock, closing);
    // First of all, so that another process goes on with the log whatever hangs here.
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
): Promise<Omit<Services, 'close'>> {
  const metrics = createMetrics();
  const logger = createLogger(config.logLevel, new LogStream(2, (lines) => metrics.droppedLines(lines)));
  const anchorMetrics = createAnchorMetrics(metrics.registry);
  const passphrase = readPassphrase(config.keyring);
  requireWritable(config);
  if (config.mode === 'development') await makeFirstKeyring(config, passphrase, clock());
  const did = config.handle === null ? null : didSvc(config.handle);
  const issuer = await openOwnIssuer(config.keyring.path, did, passphrase);
  const { chain, rpcUrl, chainState } = await openChain(config, logger, closing);
  const money = await openMoney(config, rpcUrl);
  const store = await openStore(config);
  closing.push(() => store.close(), 'the database', 12_000);
  const lease = await openProcessLease({ store, seconds: config.processLeaseSeconds, logger });
  closing.push(() => lease.close(), 'ending the process lease');
  const claims = createClaims({ store, lease, clock, logger });
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
  closing.push(() => log.close(), 'the steps of the log', 12_000);

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
  const news = new RegistryNews();
  const askBalance = careful('asking for the balance', async () => {
    if (chain !== null) await anchorMetrics.wallet(chain);
  });
  const stops = [
    repeat(
      KEY_REFRESH_MS,
      careful('refreshing keys and trust', async () => {
        if ((await issuer.refresh()) || news.due(clock())) await refreshTrust(store, issuer.keyring, clock());
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
      // Twice in three leases at least: with the lease itself, well within the minute that is promised.
      (config.processLeaseSeconds * 2_000) / 3,
      careful('giving back what was put aside', async () => {
        await claims.sweep();
        await returnHoldsOfTheDead(store, Math.floor(clock() / 1000));
      }),
    ),
    repeat(WALLET_MS, askBalance),
  ];
  const asked = askBalance();
  closing.push(async () => {
    await Promise.all([asked, ...stops.map((stop) => stop())]);
  }, 'the housekeeping');

  const compute = openCompute({
    config,
    store,
    process: lease.id,
    issuer,
    log,
    registry: metrics.registry,
    clock,
    logger,
  });
  closing.push(() => compute.close(), 'billing the streams that were cut', 8_000);
  const { pipeline } = compute;
  const status = createStatus({
    store,
    issuer,
    log,
    service: config.receiptsUrl,
    period: config.log.periodSeconds,
    posts: chain !== null,
    models: async (signal) => {
      await probeModels(pipeline, { paid: config.compute.probesProviders, signal });
      return findModels(pipeline.catalogue.models, pipeline.health);
    },
    clock,
    logger,
  });
  closing.push(() => status.close(), 'the status');
  const registry = createRegistry(store, issuer, clock, () => news.changed());
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
    }, 'the payments');
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
  if (treasury !== null) closing.push(() => treasury.close(), 'the treasury');
  // What the treasury holds is read before anything is paid into it, so that no payment counts twice.
  if (treasury !== null) await careful('reading the treasury', () => treasury.watch())();
  const clients = createClients(config.trustedProxies);
  const apiKeys = createApiKeys(store, issuer, clock);
  const agents = createAgents({ config, store, registry, clock });
  const development = config.mode === 'development';
  const readiness = new Readiness({
    store,
    log,
    period: chain === null ? null : config.log.periodSeconds,
    chain: chainState,
    clock,
  });
  await readiness.start();
  closing.push(() => readiness.close(), 'watching what it does');

  return {
    config,
    clock,
    logger,
    metrics,
    store,
    lease,
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
      {
        perDay: config.freeReadPerDay,
        perDayByAddress: config.freeReadPerDayByAddress,
        development,
      },
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
    claims,
    endCalls: () => compute.endCalls(),
    turns: createTurns(),
    verificationTurns: createVerificationTurns(),
    measure: boundedLook(
      async () => {
        await compute.measure();
        anchorMetrics.status(await log.status());
        anchorMetrics.posting((await store.log.newestPosting())?.state ?? null);
      },
      () => anchorMetrics.read(),
    ),
    ready: async () => ({
      ...(await readiness.checks()),
      trust:
        trust.bundle() === null
          ? 'no trust bundle is published: see tally trust draft, sign and publish'
          : 'ok',
    }),
  };
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
    operator: config.operator,
  });
}
