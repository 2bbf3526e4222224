import { TallyError } from '@tallystick/core';

/** Only what may leave the machine: no secret, and nothing of the text that callers send or get. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One step of a trace, as OpenTelemetry's span. Where telemetry is off there is none, so that nothing is spent on it. */
export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The request headers by which another service continues the trace (W3C Trace Context): `traceparent`, `tracestate`. */
  headers(): Readonly<Record<string, string>>;
  /** Begins a step within this one. @param kind `client` for a call to another service */
  child(name: string, kind: 'client' | 'internal', attributes: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** Ends the step, once. @param error `error.type` of what failed: a stable code; absent where nothing did */
  end(error?: string): void;
}

/** Does `work` as a step within `parent`; without telemetry it does the work alone. */
export async function inSpan<T>(parent: Span | null, name: string, work: () => Promise<T>): Promise<T> {
  if (parent === null) return work();
  const span = parent.child(name, 'internal', {});
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof TallyError ? error.code : 'internal');
    throw error;
  }
}
