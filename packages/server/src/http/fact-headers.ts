import type { JsonObject } from '@tallystick/core';
import { type AnswerFact, type BearerError, factsOf } from '@tallystick/kit';

type Headers = Record<string, string>;

/** The headers that tell a fact of an answer. Nothing else knows their names. */
export function headersOfFact(fact: AnswerFact): Headers {
  switch (fact.kind) {
    case 'rate_limit': {
      // draft-ietf-httpapi-ratelimit-headers
      const { name, limit, seconds } = fact.window;
      return {
        'ratelimit-policy': `"${name}";q=${limit};w=${seconds}`,
        ratelimit: `"${name}";r=${Math.max(0, limit - fact.used)};t=${fact.left}`,
      };
    }
    case 'payment_settled':
      return { 'payment-response': encoded(fact.document), 'cache-control': 'private, no-store' };
    case 'settlement_receipt':
      return { 'x-settlement-receipt-id': fact.receiptId };
    case 'low_balance':
      return { 'x-balance-low': fact.available };
    case 'budget_left':
      return { 'x-budget-left': fact.left };
  }
}

/** The headers of a refusal; none for anything else that was thrown. */
export function refusalHeaders(thrown: unknown): Headers {
  const { retryAfter, bearer, payment } = factsOf(thrown);
  return {
    // Rounded up, so that a client which comes back then is not too early (RFC 9110, section 10.2.3).
    ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(bearer !== undefined && { 'www-authenticate': challengeOf(bearer) }),
    ...(payment !== undefined && { 'payment-required': encoded(payment), 'cache-control': 'no-store' }),
  };
}

/** RFC 6750, section 3: without a credential in the request, the challenge names only the scheme. */
function challengeOf(error: BearerError): string {
  return error === 'missing' ? 'Bearer' : `Bearer error="${error}"`;
}

/** JSON in the form of x402's headers: base64 of its text. */
function encoded(document: JsonObject): string {
  return Buffer.from(JSON.stringify(document)).toString('base64');
}
