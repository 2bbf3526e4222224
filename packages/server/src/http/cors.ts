import type { Answer } from './answer.ts';

const EXPOSED = [
  'X-Receipt-Id',
  'X-Receipt-Profile',
  'X-Receipt-Schema-Version',
  'X-Anchor-Ref',
  'X-Root-Fingerprint',
  'X-Evidence-Verified',
  'X-Evidence-Logged',
  'X-Evidence-Hashed',
  'X-Evidence-Trusted',
  'X-Evidence-In-Window',
  'X-Request-Id',
  'Request-Id',
  'ETag',
  'Location',
  'Retry-After',
  'X-Should-Retry',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotency-Replayed',
  'Mcp-Session-Id',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-Settlement-Receipt-Id',
  'X-Balance-Low',
  'X-Budget-Left',
].join(', ');

/**
 * Sent with every answer: any origin may read it. No route uses cookies, so a wildcard gives a page nothing that its
 * reader does not have. It does not depend on `Origin`, so shared caches need no `Vary`.
 */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
} as const;

/** The answer to a CORS preflight (Fetch, section 3.2) for a path that answers to these methods. */
export function preflight(methods: readonly string[], requestedHeaders: string | undefined): Answer {
  return {
    status: 204,
    body: null,
    contentType: null,
    headers: {
      allow: methods.join(', '),
      'access-control-allow-methods': methods.join(', '),
      // A wildcard would not cover Authorization, so the requested names are returned.
      'access-control-allow-headers': requestedHeaders ?? '*',
      'access-control-max-age': '86400',
      vary: 'Access-Control-Request-Headers',
    },
  };
}
