import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnIssuer } from '@tallystick/issuers';
import type { LogStorms } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { OperatorFacts } from '@tallystick/receipts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Model } from './catalogue/catalogue.ts';
import { openCatalogue } from './catalogue/open.ts';
import { createCompressor } from './compression/compressor.ts';
import type { CompressionStore } from './compression-store.ts';
import { KeptItems } from './kept-items.ts';
import { createComputeMetrics } from './metrics.ts';
import type { PipelineContext } from './pipeline/context.ts';
import { OpenProviders } from './providers/open-providers.ts';
import { createHealth } from './resilience/health.ts';
import { defaultRetryPolicy } from './resilience/retries.ts';
import { createRouter } from './router/router.ts';
import { createPins } from './router/sessions.ts';
import type { ComputeConfig } from './settings.ts';

/** Milliseconds for billing the streams that end because the service stops. */
const BILLING_MS = 5_000;
const RESTS = { level: 'warn', burst: 3 } as const;

/** The inference router of one service. */
export interface Compute {
  /** What calls are served with now. A call takes it once and keeps it: `reload` gives later calls another one. */
  readonly pipeline: PipelineContext;
  /**
   * Takes another catalogue, with its prices and its providers, for all later calls. Calls under way end as they began.
   * What is known of the models' health and of sessions stays. Changes nothing when it throws.
   * @throws as `openCatalogue`
   */
  reload(settings: CatalogueSettings): void;
  /** Updates the metrics that are read at intervals. */
  measure(): Promise<void>;
  /** Prompts that wait for the threads that compress, or are in them. */
  waiting(): number;
  /**
   * Ends every call under way, and every later one at once: an open stream gets an error event and its receipt, any
   * other call is answered 503 and costs nothing. Resolves once the streams are billed, after at most 5 s. Idempotent.
   */
  endCalls(): Promise<void>;
  /** Ends the calls under way, and closes the connections to providers. */
  close(): Promise<void>;
}

/** What the models and their providers follow from. */
type CatalogueSettings = Pick<ComputeConfig, 'catalogue' | 'environment' | 'aws'>;

/** The part of the pipeline that follows from the catalogue. */
type Models = Pick<PipelineContext, 'catalogue' | 'router' | 'providers'>;

/** The part of the service's configuration that the router uses. */
interface InferenceSettings {
  readonly mode: 'development' | 'production';
  readonly compute: ComputeConfig;
  readonly operator: OperatorFacts;
  readonly payments: { readonly mode: 'off' | 'x402' };
}

interface ComputeDependencies {
  readonly config: InferenceSettings;
  readonly store: { readonly ledger: LedgerStore; readonly compression: CompressionStore };
  /** See `PipelineContext`. */
  readonly process: string;
  readonly issuer: OwnIssuer;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly registry: Registry;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Logger;
  readonly storms: LogStorms;
}

/**
 * Opens the catalogue and the configured providers. Nothing is sent before the first call.
 */
export function openCompute({
  config,
  store,
  process,
  issuer,
  log,
  registry,
  clock,
  logger,
  storms,
}: ComputeDependencies): Compute {
  const { timeouts, retries, goneRestMs, defaultMaxOutput, maxCallMs, maxStreamBytes } = config.compute;
  const health = createHealth({
    goneRestMs,
    onRest: ({ provider, upstreamModel: model }, why, restMs) => {
      const msg =
        why === 'gone' ? 'the provider no longer offers the model' : 'a model failed, and is given a rest';
      if (storms.admits(`${msg}: ${provider}/${model}`, RESTS))
        logger.warn({ provider, model, why, restMs }, msg);
    },
  });
  const metrics = createComputeMetrics(registry);
  const pins = createPins();
  const providers = new OpenProviders(timeouts, maxCallMs);
  const openModels = (settings: CatalogueSettings): Models => {
    const { catalogue, providers: entries } = openCatalogue(settings.environment, settings.catalogue);
    const opened = providers.replace(entries, settings.aws);
    const limited = ({ provider, upstreamModel }: Model): boolean =>
      (opened.get(provider)?.limitedMs?.(upstreamModel) ?? 0) > 0;
    const router = createRouter(catalogue, { rest: (model) => health.rest(model), limited }, pins);
    return { catalogue, router, providers: opened };
  };
  const compressor = createCompressor({
    store: store.compression,
    catalogue: () => pipeline.catalogue,
    metrics,
    clock,
    logger,
  });
  const unbilled = new Set<Promise<void>>();
  const stop = new AbortController();
  const endCalls = async (): Promise<void> => {
    stop.abort();
    await Promise.race([Promise.all(unbilled), sleep(BILLING_MS, undefined, { ref: false })]);
  };
  let pipeline: PipelineContext = {
    ...openModels(config.compute),
    health,
    storms,
    retryPolicy: { ...defaultRetryPolicy, retries },
    compressor,
    items: new KeptItems(store.compression, clock),
    ledger: store.ledger,
    process,
    issuer,
    log,
    metrics,
    clock,
    logger,
    operator: config.operator,
    development: config.mode === 'development' && config.payments.mode === 'off',
    freeToAll: config.mode === 'development',
    defaultMaxOutput,
    maxStreamBytes,
    maxCallMs,
    stop: stop.signal,
    unbilled,
  };
  return {
    get pipeline() {
      return pipeline;
    },
    reload(settings) {
      pipeline = { ...pipeline, ...openModels(settings) };
    },
    endCalls,
    waiting: () => compressor.waiting(),
    async measure() {
      metrics.health(pipeline.catalogue.models, health);
      metrics.reserved(await store.ledger.reserved());
    },
    async close() {
      await endCalls();
      await providers.close();
      await compressor.close();
    },
  };
}
