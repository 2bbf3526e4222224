import type { RequestFacts, Span } from '@tallystick/kit';

/** What the log and the trace tell of one request. */
export interface RequestRecord {
  readonly requestId: string;
  readonly traceId: string | null;
  /** Null while telemetry is off. */
  readonly span: Span | null;
  /** What was told so far. */
  facts: RequestFacts;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/;

/** The trace id of a `traceparent` (W3C Trace Context, section 3.2); null where there is none, or a malformed one. */
export function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null);
}
