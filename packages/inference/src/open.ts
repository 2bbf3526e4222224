import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnIssuer } from '@tallystick/issuers';
import { type LogStorms, runEvery } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { OperatorFacts } from '@tallystick/receipts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { CallQueue } from './calls/call-queue.ts';
import type { CallStore } from './calls/call-store.ts';
import type { ContentStore } from './calls/content-store.ts';
import { isRecentCall } from './calls/is-recent-call.ts';
import { KeptContents } from './calls/kept-contents.ts';
import { MissingCalls } from './calls/missing-calls.ts';
import type { Model } from './catalogue/catalogue.ts';
import { openCatalogue } from './catalogue/open.ts';
import { createReview } from './catalogue/review.ts';
import type { UpkeepTerms } from './catalogue/upkeep.ts';
import { createCompressor } from './compression/compressor.ts';
import type { CompressionStore } from './compression-store.ts';
import { KnownRatings } from './experiments/known-ratings.ts';
import { KeptItems } from './kept-items.ts';
import type { Learned } from './learning/learned.ts';
import { Learning } from './learning/learning.ts';
import type { LearningStore, RatedCall, Rating } from './learning/learning-store.ts';
import { createComputeMetrics } from './metrics.ts';
import type { PipelineContext } from './pipeline/context.ts';
import { OpenProviders } from './providers/open-providers.ts';
import { createHealth } from './resilience/health.ts';
import type { RestStore } from './resilience/rest-store.ts';
import { defaultRetryPolicy } from './resilience/retries.ts';
import { shareHealth } from './resilience/shared-health.ts';
import { shareOutcomes } from './resilience/shared-outcomes.ts';
import { createRouter } from './router/router.ts';
import { SharedPins } from './router/sessions.ts';
import type { ComputeConfig } from './settings.ts';

/** Milliseconds for billing the streams that end because the service stops. */
const BILLING_MS = 5_000;
/** Milliseconds between two writes of what has ended. */
const LIST_MS = 500;
const UNLISTED = 'calls that are not listed could not be looked for';
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
  /** Stores what was learned of calls, and reads what other processes have. To be called once a second. */
  learn(): Promise<void>;
  /** What was measured of the models, over all processes. */
  learned(): Learned;
  /** See `Learning.rate`. */
  rate(receiptId: string, account: string, rating: Rating): Promise<RatedCall | null>;
  /** What callers have had kept of their calls. */
  readonly contents: Pick<KeptContents, 'find' | 'remove' | 'purge'>;
  /** Resolves once every call that has ended is in the list of calls, and what is kept of it is stored. */
  listed(): Promise<void>;
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
type Models = Pick<PipelineContext, 'catalogue' | 'router' | 'experiments' | 'providers'>;

/** The part of the service's configuration that the router uses. */
interface InferenceSettings {
  readonly mode: 'development' | 'production';
  readonly compute: ComputeConfig;
  readonly operator: OperatorFacts;
  readonly payments: { readonly mode: 'off' | 'x402' };
}

interface ComputeDependencies {
  readonly config: InferenceSettings;
  readonly store: {
    readonly ledger: LedgerStore;
    readonly compression: CompressionStore;
    readonly rests: RestStore;
    readonly learning: LearningStore;
    readonly calls: CallStore;
    readonly contents: ContentStore;
  };
  /** See `PipelineContext`. */
  readonly process: string;
  readonly issuer: OwnIssuer;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly budgets: PipelineContext['budgets'];
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
  budgets,
  registry,
  clock,
  logger,
  storms,
}: ComputeDependencies): Compute {
  const { timeouts, retries, goneRestMs, maxPriceAgeDays, defaultMaxOutput, maxCallMs, maxStreamBytes } =
    config.compute;
  const health = createHealth({
    goneRestMs,
    onRest: ({ provider, upstreamModel: model }, why, restMs) => {
      const msg =
        why === 'gone' ? 'the provider no longer offers the model' : 'a model failed, and is given a rest';
      if (storms.admits(`${msg}: ${provider}/${model}`, RESTS))
        logger.warn({ provider, model, why, restMs }, msg);
    },
  });
  const onFailure = (error: unknown): void => {
    const msg = 'what other processes know of models could not be exchanged';
    if (storms.admits(msg, RESTS)) logger.warn({ err: error }, msg);
  };
  const stopSharing = shareHealth({ health, store: store.rests, process, onFailure });
  const stopTelling = shareOutcomes({ health, store: store.compression, process, clock, onFailure });
  const metrics = createComputeMetrics(registry);
  const calls = new CallQueue({ store: store.calls, metrics, storms, logger });
  const missing = new MissingCalls({ store: store.calls, queue: calls, process, clock, maxCallMs });
  const contents = new KeptContents({
    store: store.contents,
    issuer,
    days: config.compute.keepContentDays,
    async isUnlisted(owner, id) {
      if (!isRecentCall(id, clock(), maxCallMs)) return false;
      await calls.flush();
      const around = { after: id.slice(0, -1), before: `${id}0`, limit: 100 };
      const unlisted = await store.calls.unlisted(around);
      return unlisted.some((call) => call.id === id && call.owner === owner);
    },
    metrics,
    storms,
    logger,
    clock,
  });
  // A call's content before its row: where there is a row, nothing else will come.
  const write = async (): Promise<void> => {
    await contents.flush();
    await calls.flush();
  };
  const stopListing = runEvery(LIST_MS, write);
  const stopFinding = missing.start((error) => {
    if (storms.admits(UNLISTED, RESTS)) logger.warn({ err: error }, UNLISTED);
  });
  const pins = new SharedPins(store.compression, clock);
  const learning = new Learning(store.learning, clock, config.compute.ratingDays * 86_400);
  const providers = new OpenProviders(timeouts, maxCallMs);
  const upkeep = (): UpkeepTerms => ({ now: clock(), maxPriceAgeDays });
  const review = createReview(logger);
  const openModels = (settings: CatalogueSettings): Models => {
    const { catalogue, providers: entries } = openCatalogue(settings.environment, settings.catalogue);
    const opened = providers.replace(entries, settings.aws);
    const limited = ({ provider, upstreamModel }: Model): boolean =>
      (opened.get(provider)?.limitedMs?.(upstreamModel) ?? 0) > 0;
    const learned = (): Learned => learning.learned;
    const state = { rest: (model: Model) => health.rest(model), limited, learned, upkeep };
    const router = createRouter(catalogue, state, pins.pins);
    return { catalogue, router, experiments: settings.catalogue.experiments ?? {}, providers: opened };
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
    pins,
    health,
    upkeep,
    storms,
    retryPolicy: { ...defaultRetryPolicy, retries },
    compressor,
    ratings: new KnownRatings(store.learning, clock),
    items: new KeptItems(store.compression, clock),
    budgets,
    contents,
    ledger: store.ledger,
    process,
    issuer,
    log,
    metrics,
    learning,
    calls,
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
  review(pipeline.catalogue.models, upkeep());
  return {
    get pipeline() {
      return pipeline;
    },
    reload(settings) {
      pipeline = { ...pipeline, ...openModels(settings) };
      review(pipeline.catalogue.models, upkeep());
    },
    learn: () => learning.share(),
    learned: () => learning.learned,
    async rate(receiptId, account, rating) {
      const rated = await learning.rate(receiptId, account, rating);
      if (rated?.isNew === true) metrics.rated(rated);
      return rated;
    },
    endCalls,
    listed: write,
    contents,
    waiting: () => compressor.waiting(),
    async measure() {
      const { models } = pipeline.catalogue;
      metrics.health(models, health);
      metrics.catalogue(models, clock());
      review.daily(models, upkeep());
      metrics.reserved(await store.ledger.reserved());
    },
    async close() {
      await endCalls();
      await stopListing();
      await write();
      await stopFinding();
      await Promise.all([stopSharing(), stopTelling()]);
      await learning.share().catch((err: unknown) => {
        logger.warn({ err }, 'what was learned in the last second could not be stored');
      });
      await providers.close();
      await compressor.close();
    },
  };
}
