import {
  type Context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { VERSION } from '@tallystick/core';
import type { LogStorms, Span, SpanAttributes } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { RegistryMetrics } from './registry-metrics.ts';
import type { SignalSettings, Telemetry, TelemetrySettings, Tracing } from './tracing.ts';

// This file alone imports OpenTelemetry, and is itself imported only where telemetry is on.

interface TelemetryOptions extends TelemetrySettings {
  readonly registry: Registry;
  /** Brings those metrics up to date that are looked at now and then. */
  readonly measure: () => Promise<void>;
  readonly logger: Logger;
  readonly storms: LogStorms;
}

const SCOPE = 'tallystick';
/** How long the last spans and metrics may take to be sent when the service stops, in milliseconds. */
const LAST_MS = 3_000;
const FAILURES = { level: 'warn', burst: 1 } as const;

/** Sends traces and metrics by OTLP over HTTP, with the packages of OpenTelemetry. A collector that fails stops nothing. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { traces, metrics, registry, measure, metricsEveryMs } = options;
  tellFailures(options);
  const resource = describeService();
  const tracer = traces && new TracerProvider({ resource, ...(await spansTo(traces, options)) });
  const meter =
    metrics &&
    new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: await metricExporter(metrics),
          exportIntervalMillis: metricsEveryMs,
          metricProducers: [new RegistryMetrics(registry, measure, resource)],
        }),
      ],
    });
  return {
    tracing: tracer && tracingOf(tracer.getTracer(SCOPE, VERSION)),
    async close() {
      const ended = Promise.allSettled([tracer?.shutdown(), meter?.shutdown()]);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, LAST_MS);
      await Promise.race([ended, late]);
      clearTimeout(timer);
    },
  };
}

/** What the operator calls the service (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`) comes before its own name. */
function describeService(): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'tallystick', 'service.version': VERSION }))
    .merge(detectResources({ detectors: [envDetector] }));
}

async function spansTo(
  { url, protocol }: SignalSettings,
  { sampler, batch }: Pick<TelemetryOptions, 'sampler' | 'batch'>,
): Promise<{ sampler: Sampler; spanProcessors: BatchSpanProcessor[] }> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  const exporter: SpanExporter = new OTLPTraceExporter({ url });
  const { delayMs, maxQueued, maxBatch } = batch;
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: delayMs,
    maxQueueSize: maxQueued,
    maxExportBatchSize: maxBatch,
  });
  return { sampler: samplerOf(sampler), spanProcessors: [processor] };
}

async function metricExporter({ url, protocol }: SignalSettings): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-metrics-otlp-http')
    : import('@opentelemetry/exporter-metrics-otlp-proto'));
  return new OTLPMetricExporter({ url });
}

function samplerOf({ followsParent, ratio }: TelemetryOptions['sampler']): Sampler {
  const root = shareOf(ratio);
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

function shareOf(ratio: number): Sampler {
  if (ratio === 1) return new AlwaysOnSampler();
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

/** What OpenTelemetry says of its own troubles goes into the log, bounded. Its settings are of the whole process. */
function tellFailures({ logger, storms }: Pick<TelemetryOptions, 'logger' | 'storms'>): void {
  const tell = (reason: string): void => {
    if (storms.admits('telemetry', FAILURES)) logger.warn({ reason }, 'telemetry could not be sent');
  };
  const nothing = (): void => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((thrown) => tell(thrown instanceof Error ? thrown.message : 'unknown'));
}

const propagator = new W3CTraceContextPropagator();
const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

function tracingOf(tracer: Tracer): Tracing {
  return {
    begin(name, { header, attributes }) {
      const parent = propagator.extract(ROOT_CONTEXT, header, {
        get: (from, key) => from(key),
        keys: () => [],
      });
      return new Step(tracer, parent, { name, kind: SpanKind.SERVER, attributes });
    },
  };
}

interface StepOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: SpanAttributes;
}

/** A span of the SDK, as every part of the service sees it. Its context is passed on by hand: nothing is patched. */
class Step implements Span {
  readonly #tracer: Tracer;
  readonly #span: OtelSpan;
  #context: Context | null = null;

  constructor(tracer: Tracer, parent: Context, { name, kind, attributes }: StepOptions) {
    this.#tracer = tracer;
    // Attributes that the sampler is given would be copied twice.
    this.#span = tracer.startSpan(name, { kind }, parent).setAttributes(attributes);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  headers(): Readonly<Record<string, string>> {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    return traceState === undefined ? { traceparent } : { traceparent, tracestate: traceState.serialize() };
  }

  child(name: string, kind: 'client' | 'internal', attributes: SpanAttributes): Span {
    return new Step(this.#tracer, this.#within(), { name, kind: KINDS[kind], attributes });
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }

  /** The context of what this span is the parent of; most spans are of nothing. */
  #within(): Context {
    this.#context ??= trace.setSpan(ROOT_CONTEXT, this.#span);
    return this.#context;
  }
}
