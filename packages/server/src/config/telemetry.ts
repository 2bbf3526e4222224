import type { SignalSettings, TelemetrySettings } from '../observability/tracing.ts';
import { type EnvReader, hasScheme } from './reader.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
const HOUR_MS = 3_600_000;

/**
 * OpenTelemetry's own variables. Those of the exporters that are not read here (headers, timeout, compression,
 * certificates), `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` are read by its packages.
 */
export function readTelemetry(read: EnvReader): TelemetrySettings | null {
  if (read.oneOf('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true') return null;
  const base = endpoint(read, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const own = {
    TRACES: endpoint(read, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    METRICS: endpoint(read, 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'),
  };
  if (base === null && own.TRACES === null && own.METRICS === null) return null;
  const protocol = read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, 'http/protobuf');
  const signal = (name: 'TRACES' | 'METRICS'): SignalSettings | null => {
    const off = read.oneOf(`OTEL_${name}_EXPORTER`, ['otlp', 'none'], 'otlp') === 'none';
    const url = own[name] ?? (base && `${base.replace(/\/+$/, '')}/v1/${name.toLowerCase()}`);
    const ownProtocol = read.oneOf(`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`, PROTOCOLS, protocol);
    return off || url === null ? null : { url, protocol: ownProtocol };
  };
  return {
    traces: signal('TRACES'),
    metrics: signal('METRICS'),
    sampler: readSampler(read),
    batch: {
      delayMs: read.integer('OTEL_BSP_SCHEDULE_DELAY', 5_000, 1, HOUR_MS),
      maxQueued: read.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1, 1_000_000),
      maxBatch: read.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, 1_000_000),
    },
    metricsEveryMs: read.integer('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 10, HOUR_MS),
  };
}

/** Its value may hold credentials, so that no fault quotes it. */
function endpoint(read: EnvReader, name: string): string | null {
  return read.secretUrl(name, hasScheme('http:', 'https:'), {
    what: 'an http:// or https:// URL',
    example: 'http://collector:4318',
  });
}

function readSampler(read: EnvReader): TelemetrySettings['sampler'] {
  const name = read.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  const given = read.optional('OTEL_TRACES_SAMPLER_ARG', {
    accepts: (text) => /^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 1,
    example: '0.1',
  });
  const ratios = { always_on: 1, always_off: 0, traceidratio: given === null ? 1 : Number(given) };
  const followsParent = name.startsWith('parentbased_');
  const root = name.replace('parentbased_', '') as keyof typeof ratios;
  return { followsParent, ratio: ratios[root] };
}
