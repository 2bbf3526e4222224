import type { AnswerFact, Incoming, RequestFacts, Span } from '@tallystick/kit';
import { type AppContext, header, incomingOf, isProbe } from './context.ts';
import { headersOfFact } from './fact-headers.ts';
import type { RequestRecord } from './request-record.ts';

/** A request as the domains see it. Facts noted on it go into `headers`, and what is told of it into `record`. */
export function incomingRequest(
  c: AppContext,
  headers: Record<string, string>,
  record: RequestRecord,
): Incoming {
  return new IncomingRequest(c, headers, record);
}

/** Headers that are lists: one request can have several limits (draft-ietf-httpapi-ratelimit-headers). */
const LISTS: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy']);

class IncomingRequest implements Incoming {
  readonly #c: AppContext;
  readonly #headers: Record<string, string>;
  readonly #record: RequestRecord;

  constructor(c: AppContext, headers: Record<string, string>, record: RequestRecord) {
    this.#c = c;
    this.#headers = headers;
    this.#record = record;
  }

  get method(): string {
    return this.#c.req.method;
  }

  get url(): string {
    return this.#c.req.url;
  }

  get remoteAddress(): string | undefined {
    return incomingOf(this.#c)?.socket.remoteAddress;
  }

  get idempotencyKey(): string | undefined {
    return this.#c.get('inner')?.idempotencyKey ?? header(this.#c, 'idempotency-key');
  }

  get isProbe(): boolean {
    return isProbe(this.#c);
  }

  get requestId(): string {
    return this.#record.requestId;
  }

  get traceId(): string | null {
    return this.#record.traceId;
  }

  get span(): Span | null {
    return this.#record.span;
  }

  header(lowerCaseName: string): string | undefined {
    return header(this.#c, lowerCaseName);
  }

  note(fact: AnswerFact): void {
    for (const [name, value] of Object.entries(headersOfFact(fact))) {
      const earlier = LISTS.has(name) ? this.#headers[name] : undefined;
      this.#headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
    }
  }

  tell(facts: RequestFacts): void {
    this.#record.facts = { ...this.#record.facts, ...facts };
  }
}
