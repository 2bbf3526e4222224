import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

type Metric = MetricObjectWithValues<MetricValue<string> & { readonly metricName?: string }>;

/**
 * The metrics of `/metrics`, as OpenTelemetry's SDK takes them: each is counted once, under one name, and nothing is
 * spent on OTLP between two exports.
 */
export class RegistryMetrics implements MetricProducer {
  readonly #registry: Registry;
  readonly #measure: () => Promise<void>;
  readonly #resource: Resource;
  readonly #startTime = hrTime();

  /** @param resource of the result, which the SDK replaces by its own */
  constructor(registry: Registry, measure: () => Promise<void>, resource: Resource) {
    this.#registry = registry;
    this.#measure = measure;
    this.#resource = resource;
  }

  async collect(): Promise<CollectionResult> {
    await this.#measure();
    const found = (await this.#registry.getMetricsAsJSON()) as readonly Metric[];
    const times = { startTime: this.#startTime, endTime: hrTime() };
    const metrics = found.filter(({ values }) => values.length > 0).map((metric) => dataOf(metric, times));
    const scopeMetrics = [{ scope: { name: 'tallystick' }, metrics }];
    return { resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] };
  }
}

interface Times {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function dataOf({ name, help, type, values }: Metric, times: Times): MetricData {
  const shared = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // The declaration of prom-client says a number, and what is there is the name of the type.
  if (String(type) === 'histogram') {
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) };
  }
  const dataPoints = values.map(({ labels, value }) => ({
    ...times,
    attributes: labels as Attributes,
    value,
  }));
  return String(type) === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Prometheus counts up to each boundary, OpenTelemetry between two of them. */
function histograms(name: string, values: Metric['values'], times: Times): DataPoint<Histogram>[] {
  const series = new Map<string, { attributes: Attributes; bounds: number[]; upTo: number[]; sum: number }>();
  for (const { metricName, labels, value } of values) {
    const { le, ...attributes } = labels as Attributes;
    const key = JSON.stringify(attributes);
    const found = series.get(key) ?? { attributes, bounds: [], upTo: [], sum: 0 };
    series.set(key, found);
    if (metricName === `${name}_sum`) found.sum = value;
    if (metricName !== `${name}_bucket`) continue;
    found.upTo.push(value);
    if (le !== '+Inf') found.bounds.push(Number(le));
  }
  return [...series.values()].map(({ attributes, bounds, upTo, sum }) => ({
    ...times,
    attributes,
    value: {
      buckets: {
        boundaries: bounds,
        counts: upTo.map((count, index) => count - (upTo[index - 1] ?? 0)),
      },
      count: upTo.at(-1) ?? 0,
      sum,
    },
  }));
}
