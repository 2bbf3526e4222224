import type { Span, SpanAttributes } from '@tallystick/kit';

/** Where one kind of telemetry is sent. */
export interface SignalSettings {
  /** With its path. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
}

/** What is sent by OTLP over HTTP, and where. */
export interface TelemetrySettings {
  readonly traces: SignalSettings | null;
  readonly metrics: SignalSettings | null;
  readonly sampler: {
    /** Whether a caller's decision about its trace holds for the service's part. */
    readonly followsParent: boolean;
    /** Share of the other traces that are kept, from 0 to 1. */
    readonly ratio: number;
  };
  /** How spans are sent. */
  readonly batch: {
    /** The longest that a span waits, in milliseconds. */
    readonly delayMs: number;
    /** Spans that wait at most; further ones are dropped. */
    readonly maxQueued: number;
    /** Spans in one export at most. */
    readonly maxBatch: number;
  };
  /** Milliseconds between two exports of the metrics. */
  readonly metricsEveryMs: number;
}

/** Begins the traces of requests. */
export interface Tracing {
  /** Begins the span of a request, within the trace that its headers name, or else in a new one. */
  begin(
    name: string,
    request: {
      /** Takes lower-case names. */
      readonly header: (name: string) => string | undefined;
      readonly attributes: SpanAttributes;
    },
  ): Span;
}

/** What leaves the process for the operator's collector. */
export interface Telemetry {
  /** Null where only metrics are sent. */
  readonly tracing: Tracing | null;
  /** Sends what waits, and lets go of the connections. */
  close(): Promise<void>;
}
