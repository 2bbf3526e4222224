import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, TallyError } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { LedgerStore } from '@tallystick/ledger';
import type { AnchorLog } from '@tallystick/log';
import type { OperatorFacts } from '@tallystick/receipts';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { LOCAL, openCatalogue, readOperatorFile } from './catalogue/open.ts';
import type { OperatorFile } from './catalogue/schema.ts';
import { createCompressor } from './compression/compressor.ts';
import type { CompressionStore } from './compression-store.ts';
import { openLocalProvider } from './local/local.ts';
import { createComputeMetrics } from './metrics.ts';
import type { PipelineContext } from './pipeline/context.ts';
import { openProvider } from './providers/open.ts';
import type { Provider } from './providers/provider.ts';
import { createHealth } from './resilience/health.ts';
import { defaultRetryPolicy } from './resilience/retries.ts';
import { createRouter } from './router/router.ts';
import type { ComputeConfig } from './settings.ts';

/** Milliseconds for billing the streams that end because the service stops. */
const BILLING_MS = 5_000;

/** The inference router of one service. */
export interface Compute {
  readonly pipeline: PipelineContext;
  /** Updates the metrics that are read at intervals. */
  measure(): Promise<void>;
  /**
   * Ends every call under way, and every later one at once: an open stream gets an error event and its receipt, any
   * other call is answered 503 and costs nothing. Resolves once the streams are billed, after at most 5 s. Idempotent.
   */
  endCalls(): Promise<void>;
  /** Ends the calls under way, and closes the connections to providers. */
  close(): Promise<void>;
}

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
}

/**
 * Reads the operator's catalogue and opens the configured providers. Nothing is sent before the first call.
 * @throws invalid_field and other errors that name the catalogue's file
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
}: ComputeDependencies): Compute {
  const {
    catalogueFile,
    environment,
    timeouts,
    retries,
    goneRestMs,
    defaultMaxOutput,
    maxCallMs,
    maxStreamBytes,
  } = config.compute;
  const operator = catalogueFile === null ? {} : readOperator(catalogueFile);
  const { catalogue, providers: entries } = openCatalogue(environment, operator);
  const providers = new Map<string, Provider>([[LOCAL, openLocalProvider()]]);
  for (const { name, kind, baseUrl, apiKey } of entries) {
    providers.set(name, openProvider(kind, { name, baseUrl, apiKey, timeouts }));
  }
  const health = createHealth({
    goneRestMs,
    onGone: ({ provider, upstreamModel: model }, restMs) =>
      logger.warn({ provider, model, restMs }, 'the provider no longer offers the model'),
  });
  const metrics = createComputeMetrics(registry);
  const compressor = createCompressor({ store: store.compression, catalogue, metrics, clock, logger });
  const unbilled = new Set<Promise<void>>();
  const stop = new AbortController();
  const endCalls = async (): Promise<void> => {
    stop.abort();
    await Promise.race([Promise.all(unbilled), sleep(BILLING_MS, undefined, { ref: false })]);
  };
  return {
    pipeline: {
      catalogue,
      router: createRouter(catalogue, health),
      providers,
      health,
      retryPolicy: { ...defaultRetryPolicy, retries },
      compressor,
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
    },
    endCalls,
    async measure() {
      metrics.health(catalogue.models, health);
      metrics.reserved(await store.ledger.reserved());
    },
    async close() {
      await endCalls();
      await Promise.all([...providers.values()].map((provider) => provider.close()));
      await compressor.close();
    },
  };
}

function readOperator(file: string): OperatorFile {
  try {
    return readOperatorFile(parseJson(readFileSync(file)));
  } catch (cause) {
    if (cause instanceof TallyError) {
      throw new TallyError(cause.code, `${file}: ${cause.message}`, { field: cause.field, cause });
    }
    throw new TallyError('unavailable', `The catalogue ${file} can’t be read. Check TALLY_CONFIG.`, {
      cause,
    });
  }
}
