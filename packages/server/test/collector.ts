import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';

/** A span as the collector got it (OTLP's `Span`, in JSON). */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 2 is a server's, 3 a client's, 1 internal. */
  readonly kind: number;
  /** 2 is an error. */
  readonly status: number;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A data point, with the name of its metric. */
interface SentPoint {
  readonly metric: string;
  readonly kind: 'sum' | 'gauge' | 'histogram';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number;
  /** Of a histogram: counts between two bounds. */
  readonly counts: readonly number[];
}

interface ExportRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A collector of OTLP over HTTP on a free loopback port, which decodes the JSON encoding. */
export interface Collector {
  readonly url: string;
  readonly requests: readonly ExportRequest[];
  spans(): SentSpan[];
  points(): SentPoint[];
  /** Attributes of the resource that the first export names. */
  resource(): Readonly<Record<string, unknown>>;
  /** Waits for the spans of a trace until there are so many. */
  trace(traceId: string, count: number): Promise<SentSpan[]>;
  /** From here on every export is answered so. */
  answer(status: number): void;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

interface Resource {
  readonly attributes?: readonly KeyValue[];
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Record<string, unknown>[] }[];
  }[];
}

interface Point {
  readonly attributes?: readonly KeyValue[];
  readonly asDouble?: number;
  readonly asInt?: number;
  readonly sum?: number;
  readonly bucketCounts?: readonly (number | string)[];
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly ({ readonly name: string } & Partial<
        Record<'sum' | 'gauge' | 'histogram', { readonly dataPoints: readonly Point[] }>
      >)[];
    }[];
  }[];
}

export async function startCollector(): Promise<Collector> {
  const requests: ExportRequest[] = [];
  let status = 200;
  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    requests.push({ path: incoming.url ?? '', headers: incoming.headers, body });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((incoming, response) => {
    take(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bodies = <T>(path: string): T[] =>
    requests
      .filter((request) => request.path === path && request.headers['content-type'] === 'application/json')
      .map(({ body }) => JSON.parse(body.toString()) as T);
  const spans = (): SentSpan[] =>
    bodies<Traces>('/v1/traces')
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap((scope) => scope.spans)
      .map(spanOf);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    points: () =>
      bodies<Metrics>('/v1/metrics')
        .flatMap(({ resourceMetrics }) => resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap((scope) => scope.metrics)
        .flatMap((metric) =>
          (['sum', 'gauge', 'histogram'] as const).flatMap((kind) =>
            (metric[kind]?.dataPoints ?? []).map((point) => pointOf(metric.name, kind, point)),
          ),
        ),
    resource: () => attributesOf(bodies<Traces>('/v1/traces')[0]?.resourceSpans[0]?.resource.attributes),
    async trace(traceId, count) {
      const found = (): SentSpan[] => spans().filter((span) => span.traceId === traceId);
      await expect.poll(() => found().length).toBeGreaterThanOrEqual(count);
      return found().toSorted((a, b) => (a.startNano < b.startNano ? -1 : 1));
    },
    answer: (with_) => {
      status = with_;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spanOf(span: Record<string, unknown>): SentSpan {
  return {
    name: span['name'] as string,
    traceId: span['traceId'] as string,
    spanId: span['spanId'] as string,
    parentSpanId: span['parentSpanId'] as string | undefined,
    kind: span['kind'] as number,
    status: (span['status'] as { code?: number }).code ?? 0,
    startNano: BigInt(span['startTimeUnixNano'] as string),
    endNano: BigInt(span['endTimeUnixNano'] as string),
    attributes: attributesOf(span['attributes'] as readonly KeyValue[]),
  };
}

function pointOf(metric: string, kind: SentPoint['kind'], point: Point): SentPoint {
  return {
    metric,
    kind,
    attributes: attributesOf(point.attributes),
    value: point.asDouble ?? point.asInt ?? point.sum ?? 0,
    counts: (point.bucketCounts ?? []).map(Number),
  };
}

function attributesOf(pairs: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
