import { type ErrorCode, errorTable, type JsonObject, TallyError } from '@tallystick/core';
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

/** A program that waits longer than so many seconds before it tries again looks as if it hung. */
const LONGEST_WAIT_SECONDS = 60;

/** The headers of a refusal; none for anything else that was thrown. */
export function refusalHeaders(thrown: unknown): Headers {
  const { retryAfter, bearer, payment } = factsOf(thrown);
  return {
    // Rounded up, so that a client which comes back then is not too early (RFC 9110, section 10.2.3).
    ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    // No standard has this header; the clients of OpenAI and Anthropic obey it. Else they repeat every 409 and 429 at once,
    // or wait, silently, for as many hours as `Retry-After` says.
    ...(thrown instanceof TallyError && isFinal(thrown.code, retryAfter) && { 'x-should-retry': 'false' }),
    ...(bearer !== undefined && { 'www-authenticate': challengeOf(bearer) }),
    ...(payment !== undefined && { 'payment-required': encoded(payment), 'cache-control': 'no-store' }),
  };
}

/** Whether a repetition of the request would be refused too, for at least {@link LONGEST_WAIT_SECONDS}. */
function isFinal(code: ErrorCode, retryAfter: number | undefined): boolean {
  if (retryAfter !== undefined) return retryAfter > LONGEST_WAIT_SECONDS;
  // Of all 429s, only a provider's can pass without the service knowing when.
  const { status } = errorTable[code];
  return status === 409 || (status === 429 && code !== 'provider_rate_limited');
}

/** RFC 6750, section 3: without a credential in the request, the challenge names only the scheme. */
function challengeOf(error: BearerError): string {
  return error === 'missing' ? 'Bearer' : `Bearer error="${error}"`;
}

/** JSON in the form of x402's headers: base64 of its text. */
function encoded(document: JsonObject): string {
  return Buffer.from(JSON.stringify(document)).toString('base64');
}
