/** What holds for every operation, in Markdown: the introduction of the OpenAPI document. */
export const basics = (
  receiptsUrl: string,
): string => `Signed receipts for AI calls and machine work that anyone can check, offline, years later.

## Request bodies

Send JSON in UTF-8 with \`Content-Type: application/json\`. Unknown fields are refused, so that a typo never passes unnoticed. JSON that two parsers could read differently is refused too: a repeated member, an integer larger than 2^53−1, or text that is not valid Unicode. Browsers may call the API from any origin.

## Who may call

Each operation lists its credentials, of which one is enough; many operations need none.

## Errors

Every error is a problem document (RFC 9457). Branch on its \`code\`, which never changes; \`field\` names the offending field. [All codes](${receiptsUrl}/docs/errors)

## Idempotency and retries

Send an \`Idempotency-Key\` of your own with every POST that creates something. The same request with the same key gets the first answer again, marked \`Idempotency-Replayed: true\`. What is counted says in \`RateLimit\` and \`RateLimit-Policy\` how much is left (draft-ietf-httpapi-ratelimit-headers). When a quota is used up, the answer is 429, and \`Retry-After\` says how many seconds to wait. Where that is more than a minute, or where no wait helps, \`X-Should-Retry: false\` tells the clients that obey it, as those of OpenAI and Anthropic do, to give up at once.

## Request ids

Each answer has an \`X-Request-Id\`. If you send one, the answer repeats it. Quote it when you report a problem.
`;
