import {
  type Attributes,
  DiagLogLevel,
  diag,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import {
  hrTime,
  hrTimeDuration,
  type InstrumentationScope,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
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
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
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

/** How long the last spans and metrics may take to be sent when the service stops, in milliseconds. */
const LAST_MS = 3_000;
const FAILURES = { level: 'warn', burst: 1 } as const;

/** Sends traces and metrics by OTLP over HTTP, with the packages of OpenTelemetry. A collector that fails stops nothing. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { traces, metrics, registry, measure, metricsEveryMs } = options;
  tellFailures(options);
  const resource = describeService();
  const processor = traces && (await processorTo(traces, options));
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
    tracing:
      processor &&
      tracingOf({ processor, sampler: samplerOf(options.sampler), ids: new RandomIdGenerator(), resource }),
    async close() {
      const ended = Promise.allSettled([processor?.shutdown(), meter?.shutdown()]);
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

async function processorTo(
  { url, protocol }: SignalSettings,
  { batch: { delayMs, maxQueued, maxBatch } }: Pick<TelemetrySettings, 'batch'>,
): Promise<SpanProcessor> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url }),
    scheduledDelayMillis: delayMs,
    maxQueueSize: maxQueued,
    maxExportBatchSize: maxBatch,
  });
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

/** What all spans of a service share. */
interface Recorder {
  readonly processor: SpanProcessor;
  readonly sampler: Sampler;
  readonly ids: IdGenerator;
  readonly resource: Resource;
}

const propagator = new W3CTraceContextPropagator();
const KINDS = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const SCOPE: InstrumentationScope = { name: 'tallystick', version: VERSION };
const OK: SpanStatus = { code: SpanStatusCode.UNSET };
const FAILED: SpanStatus = { code: SpanStatusCode.ERROR };
const NOTHING: never[] = [];

function tracingOf(recorder: Recorder): Tracing {
  const { sampler, ids } = recorder;
  return {
    begin(name, { header, attributes }) {
      const context = propagator.extract(ROOT_CONTEXT, header, {
        get: (from, key) => from(key),
        keys: () => NOTHING,
      });
      const parent = trace.getSpanContext(context);
      const traceId = parent?.traceId ?? ids.generateTraceId();
      const sampled = sampler.shouldSample(context, traceId, name, SpanKind.SERVER, attributes, NOTHING);
      const spanContext: SpanContext = {
        traceId,
        spanId: ids.generateSpanId(),
        traceFlags:
          sampled.decision === SamplingDecision.RECORD_AND_SAMPLED ? TraceFlags.SAMPLED : TraceFlags.NONE,
        ...(parent?.traceState !== undefined && { traceState: parent.traceState }),
      };
      return new Step(recorder, spanContext, parent, { name, kind: SpanKind.SERVER, attributes });
    },
  };
}

interface StepOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: SpanAttributes;
}

/**
 * A span as every part of the service sees it, and as the SDK's processor and exporter read it: one object, where the
 * SDK's own would be a copy. It is passed on by hand, so that nothing is patched. Its trace was sampled as a whole.
 */
class Step implements Span, ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly attributes: Attributes;
  readonly startTime: HrTime = hrTime();
  endTime: HrTime = this.startTime;
  status = OK;
  readonly #recorder: Recorder;
  readonly #context: SpanContext;

  constructor(
    recorder: Recorder,
    context: SpanContext,
    parent: SpanContext | undefined,
    { name, kind, attributes }: StepOptions,
  ) {
    this.#recorder = recorder;
    this.#context = context;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.name = name;
    this.kind = kind;
    this.attributes = { ...attributes };
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  headers(): Readonly<Record<string, string>> {
    const { traceId, spanId, traceFlags, traceState } = this.#context;
    const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    return traceState === undefined ? { traceparent } : { traceparent, tracestate: traceState.serialize() };
  }

  child(name: string, kind: 'client' | 'internal', attributes: SpanAttributes): Span {
    const context = { ...this.#context, spanId: this.#recorder.ids.generateSpanId() };
    return new Step(this.#recorder, context, this.#context, { name, kind: KINDS[kind], attributes });
  }

  set(attributes: SpanAttributes): void {
    Object.assign(this.attributes, attributes);
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.attributes['error.type'] = error;
      this.status = FAILED;
    }
    this.endTime = hrTime();
    this.#recorder.processor.onEnd(this);
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime);
  }

  get ended(): boolean {
    return true;
  }

  get resource(): Resource {
    return this.#recorder.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return SCOPE;
  }

  get links(): never[] {
    return NOTHING;
  }

  get events(): never[] {
    return NOTHING;
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }
}
