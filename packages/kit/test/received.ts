import type { AnswerFact, Incoming, Received } from '../src/incoming.ts';

/** A request with these headers (lower-case names), and the facts that were noted on it. */
export function received(
  headers: Readonly<Record<string, string>> = {},
  given: Partial<Incoming> = {},
): Received & { readonly facts: AnswerFact[] } {
  const facts: AnswerFact[] = [];
  const incoming: Incoming = {
    method: 'GET',
    url: 'http://localhost/v1/x',
    remoteAddress: undefined,
    idempotencyKey: headers['idempotency-key'],
    isProbe: false,
    requestId: 'r-1',
    traceId: null,
    span: null,
    header: (name) => headers[name],
    note: (fact) => void facts.push(fact),
    tell: () => undefined,
    ...given,
  };
  return { incoming, facts };
}
