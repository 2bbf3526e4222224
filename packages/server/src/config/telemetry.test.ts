import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const telemetryOf = (env: NodeJS.ProcessEnv) => readConfig(env).telemetry;
const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';

describe('telemetry', () => {
  it('is off without an endpoint, whatever else is set, and where it is turned off', () => {
    expect(telemetryOf({})).toBeNull();
    expect(telemetryOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'xray' })).toBeNull();
    expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  });

  it('takes one endpoint for both signals, each under its path', () => {
    expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual({
      traces: { url: 'http://collector:4318/v1/traces', protocol: 'http/protobuf' },
      metrics: { url: 'http://collector:4318/v1/metrics', protocol: 'http/protobuf' },
      sampler: { followsParent: true, ratio: 1 },
      batch: { delayMs: 5_000, maxQueued: 2_048, maxBatch: 512 },
      metricsEveryMs: 60_000,
    });
  });

  it('takes an endpoint and a protocol of one signal as they are', () => {
    const env = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.test/x',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    };
    expect(telemetryOf(env)).toMatchObject({
      traces: { url: 'https://traces.test/x', protocol: 'http/json' },
      metrics: null,
    });
    expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toMatchObject({
      traces: null,
      metrics: { url: 'http://collector:4318/v1/metrics' },
    });
  });

  it.each([
    ['always_on', undefined, { followsParent: false, ratio: 1 }],
    ['traceidratio', '0.25', { followsParent: false, ratio: 0.25 }],
    ['parentbased_traceidratio', undefined, { followsParent: true, ratio: 1 }],
    ['parentbased_always_off', '0.5', { followsParent: true, ratio: 0 }],
  ])('samples as %s with %s', (name, share, sampler) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share };
    expect(telemetryOf(env)?.sampler).toEqual(sampler);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'xray'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1'],
  ])('refuses %s=%s by its name', (name, value) => {
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: value })).toThrow(`${name} is "${value}"`);
  });

  it('quotes no endpoint that it refuses, since it may hold credentials', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:hunter2@x' };
    expect(() => readConfig(env)).toThrow(/OTEL_EXPORTER_OTLP_ENDPOINT is not an http:\/\//);
    expect(() => readConfig(env)).not.toThrow(/hunter2/);
  });
});
