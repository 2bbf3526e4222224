import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { OwnIssuer } from '../issuers/own-issuer.ts';
import type { AnchorLog } from '../log/anchor-log.ts';
import type { Store } from '../store/store.ts';
import { LOCAL, openCatalogue, readOperatorFile } from './catalogue/open.ts';
import type { OperatorFile } from './catalogue/schema.ts';
import { createCompressor } from './compression/compressor.ts';
import { openLocalProvider } from './local/local.ts';
import { createComputeMetrics } from './metrics.ts';
import type { PipelineContext } from './pipeline/context.ts';
import { openProvider } from './providers/open.ts';
import type { Provider } from './providers/provider.ts';
import { createHealth } from './resilience/health.ts';
import { defaultRetryPolicy } from './resilience/retries.ts';
import { createRouter } from './router/router.ts';

/** How long streams that break when the service closes may take to be billed. */
const BILLING_MS = 5_000;

/** The inference router of one service. */
export interface Compute {
  readonly pipeline: PipelineContext;
  /** Brings the metrics up to date that are looked at now and then. */
  measure(): Promise<void>;
  /** Lets go of the providers' connections, and bills the streams that this breaks. */
  close(): Promise<void>;
}

interface Means {
  readonly config: Config;
  readonly store: Pick<Store, 'ledger' | 'compression'>;
  readonly issuer: OwnIssuer;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly registry: Registry;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Logger;
}

/**
 * Reads the operator's catalogue and opens the providers that are configured. Nothing is sent before the first call.
 * @throws invalid_field and the like, naming the catalogue's file
 */
export function openCompute({ config, store, issuer, log, registry, clock, logger }: Means): Compute {
  const { catalogueFile, environment, timeouts, retries, defaultMaxOutput, maxCallMs } = config.compute;
  const operator = catalogueFile === null ? {} : readOperator(catalogueFile);
  const { catalogue, providers: entries } = openCatalogue(environment, operator);
  const providers = new Map<string, Provider>([[LOCAL, openLocalProvider()]]);
  for (const { name, kind, baseUrl, apiKey } of entries) {
    providers.set(name, openProvider(kind, { name, baseUrl, apiKey, timeouts }));
  }
  const health = createHealth();
  const metrics = createComputeMetrics(registry);
  const compressor = createCompressor({ store: store.compression, catalogue, metrics, clock, logger });
  const unbilled = new Set<Promise<void>>();
  return {
    pipeline: {
      catalogue,
      router: createRouter(catalogue, health),
      providers,
      health,
      retryPolicy: { ...defaultRetryPolicy, retries },
      compressor,
      ledger: store.ledger,
      issuer,
      log,
      metrics,
      clock,
      logger,
      region: config.region,
      development: config.mode === 'development',
      defaultMaxOutput,
      maxCallMs,
      unbilled,
    },
    async measure() {
      metrics.health(catalogue.models, health);
      metrics.reserved(await store.ledger.reserved());
    },
    async close() {
      await Promise.all([...providers.values()].map((provider) => provider.close()));
      // A stream that nobody reads any more would never be billed.
      await Promise.race([Promise.all(unbilled), sleep(BILLING_MS, undefined, { ref: false })]);
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
