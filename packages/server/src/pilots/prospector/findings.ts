/** The areas that are checked, with their weights in the score: 100 together. */
export const AREAS = {
  transport: 15,
  well_known: 10,
  openapi: 10,
  keys: 10,
  receipts: 20,
  mcp: 10,
  payment: 10,
  headers: 5,
  limits: 5,
  errors: 5,
} as const;
export type Area = keyof typeof AREAS;

/** The share of its area's score that a finding costs. */
export const SEVERITIES = { critical: 1, major: 0.5, minor: 0.25 } as const;
export type Severity = keyof typeof SEVERITIES;

interface FindingDefinition {
  readonly area: Area;
  readonly severity: Severity;
  readonly title: string;
  /** What to do about it. */
  readonly fix: string;
}

/** Every possible finding, by its stable code. */
export const FINDINGS = {
  unreachable: {
    area: 'transport',
    severity: 'critical',
    title: 'The origin can’t be reached',
    fix: 'Serve HTTP over TLS 1.2 or 1.3 on a public address, on port 443, and answer within 5 s.',
  },
  address_refused: {
    area: 'transport',
    severity: 'critical',
    title: 'The name resolves to an address that is not public',
    fix: 'Let every address that the name resolves to be a public one, at all times.',
  },
  redirects_away: {
    area: 'transport',
    severity: 'major',
    title: 'An answer redirects to another origin',
    fix: 'Answer documents and calls at the requested address; redirect within the origin only.',
  },
  answer_too_large: {
    area: 'transport',
    severity: 'major',
    title: 'An answer is too large to be read',
    fix: 'Keep documents and answers under 2 MiB and their headers under 16 KiB.',
  },
  answer_too_slow: {
    area: 'transport',
    severity: 'major',
    title: 'An answer arrives too slowly',
    fix: 'Begin the answer within 5 s and complete it within 10 s, without pauses.',
  },
  answer_encoded: {
    area: 'transport',
    severity: 'minor',
    title: 'An answer has a Content-Encoding that was not asked for',
    fix: 'Honour Accept-Encoding: identity (RFC 9110, section 12.5.3).',
  },
  tls_certificate_expired: {
    area: 'transport',
    severity: 'critical',
    title: 'The certificate has expired or is not valid yet',
    fix: 'Renew the certificate, and renew it automatically from now on.',
  },
  tls_certificate_invalid: {
    area: 'transport',
    severity: 'critical',
    title: 'The certificate is not valid for this host',
    fix: 'Serve a certificate for exactly this name, with its chain, from an authority that clients trust.',
  },
  tls_certificate_expiring: {
    area: 'transport',
    severity: 'minor',
    title: 'The certificate is about to expire',
    fix: 'Renew the certificate 14 days or more before it expires.',
  },
  hsts_missing: {
    area: 'transport',
    severity: 'minor',
    title: 'Strict-Transport-Security is missing or short',
    fix: 'Send Strict-Transport-Security: max-age=31536000 (RFC 6797); at least half a year.',
  },
  trust_missing: {
    area: 'well_known',
    severity: 'major',
    title: 'There is no trust bundle',
    fix: 'Publish the signed trust bundle at /.well-known/trust.json as a JSON object.',
  },
  descriptor_missing: {
    area: 'well_known',
    severity: 'major',
    title: 'There is no descriptor',
    fix: 'Serve the descriptor at /v1/compute: a JSON object with service, version and endpoints.',
  },
  did_missing: {
    area: 'well_known',
    severity: 'minor',
    title: 'There is no DID document',
    fix: 'Publish the did:web document at /.well-known/did.json.',
  },
  pricing_missing: {
    area: 'well_known',
    severity: 'minor',
    title: 'There is no machine-readable price list',
    fix: 'Serve the price ladder at /pricing as a JSON object.',
  },
  openapi_missing: {
    area: 'openapi',
    severity: 'critical',
    title: 'There is no OpenAPI document',
    fix: 'Serve OpenAPI 3.0 or 3.1 as JSON at /openapi.json.',
  },
  openapi_invalid: {
    area: 'openapi',
    severity: 'major',
    title: 'The OpenAPI document is not valid',
    fix: 'Correct what the detail names; a generator that reads the routes keeps it right.',
  },
  keys_missing: {
    area: 'keys',
    severity: 'critical',
    title: 'No key is published in the expected places',
    fix: 'Publish the receipt keys: in the trust bundle, the DID document or a JWKS.',
  },
  key_algorithm: {
    area: 'keys',
    severity: 'major',
    title: 'A published key is not an Ed25519 key',
    fix: 'Publish Ed25519 keys only: Multikey (z6Mk…), or OKP with crv Ed25519 (RFC 8037).',
  },
  key_inactive: {
    area: 'keys',
    severity: 'critical',
    title: 'The trust bundle has no active receipt key',
    fix: 'List a verified issuer with an active receipt key whose window covers now.',
  },
  trust_invalid: {
    area: 'keys',
    severity: 'critical',
    title: 'The trust bundle does not verify',
    fix: 'Sign the bundle anew with the root key, and serve exactly the bytes that were signed.',
  },
  trust_expired: {
    area: 'keys',
    severity: 'critical',
    title: 'The trust bundle has expired',
    fix: 'Sign and publish a new bundle before the old one expires.',
  },
  receipt_not_offered: {
    area: 'receipts',
    severity: 'critical',
    title: 'No receipt can be obtained for a check',
    fix: 'Name a sample in the descriptor (receipt_sample), or offer POST /v1/receipt/free.',
  },
  receipt_unavailable: {
    area: 'receipts',
    severity: 'critical',
    title: 'The receipt endpoint does not return a receipt',
    fix: 'Answer 200 with a signed receipt of a family that spec/receipts.md defines.',
  },
  receipt_invalid: {
    area: 'receipts',
    severity: 'critical',
    title: 'The receipt does not verify',
    fix: 'Sign the canonical bytes (RFC 8785), and serve the receipt unchanged.',
  },
  receipt_untrusted: {
    area: 'receipts',
    severity: 'major',
    title: 'The origin’s own trust bundle does not cover the receipt’s issuer',
    fix: 'List the issuer as verified in the trust bundle, with the key that signs receipts.',
  },
  verify_refuses_genuine: {
    area: 'receipts',
    severity: 'major',
    title: 'The verifier does not accept the origin’s own receipt',
    fix: 'Let the verify endpoint answer 200 and valid: true for the service’s own receipts.',
  },
  verify_accepts_tampered: {
    area: 'receipts',
    severity: 'critical',
    title: 'The verifier accepts a changed receipt',
    fix: 'Check the signature over the canonical bytes of what was sent, not of what is stored.',
  },
  mcp_missing: {
    area: 'mcp',
    severity: 'critical',
    title: 'The Model Context Protocol is not served',
    fix: 'Serve streamable HTTP at POST /mcp.',
  },
  mcp_initialize_invalid: {
    area: 'mcp',
    severity: 'critical',
    title: 'initialize is not answered as the protocol asks',
    fix: 'Answer initialize with protocolVersion, capabilities and serverInfo.',
  },
  mcp_tools_invalid: {
    area: 'mcp',
    severity: 'major',
    title: 'tools/list returns no usable tools',
    fix: 'List at least one tool; each needs a name and an inputSchema of type object.',
  },
  payment_not_offered: {
    area: 'payment',
    severity: 'minor',
    title: 'No x402 payment is offered',
    fix: 'Name a paid endpoint in the descriptor (paid) or at /.well-known/x402, if calls are to be paid by x402.',
  },
  payment_not_challenged: {
    area: 'payment',
    severity: 'critical',
    title: 'The paid endpoint asks for no payment',
    fix: 'Answer 402 with the payment requirements to a call without payment.',
  },
  payment_challenge_unreadable: {
    area: 'payment',
    severity: 'critical',
    title: 'The x402 challenge can’t be decoded',
    fix: 'Put base64 of the JSON into PAYMENT-REQUIRED (version 2), or the JSON into the body (version 1).',
  },
  payment_challenge_invalid: {
    area: 'payment',
    severity: 'major',
    title: 'The x402 challenge asks for a payment that can’t be made',
    fix: 'Correct what the detail names: amount, network, asset, payee, time or resource.',
  },
  header_nosniff: {
    area: 'headers',
    severity: 'major',
    title: 'X-Content-Type-Options is missing',
    fix: 'Send X-Content-Type-Options: nosniff with every answer.',
  },
  header_content_type: {
    area: 'headers',
    severity: 'major',
    title: 'JSON is not labelled as JSON',
    fix: 'Send Content-Type: application/json, or a type that ends in +json.',
  },
  header_cors: {
    area: 'headers',
    severity: 'minor',
    title: 'Pages of other origins can’t read the public documents',
    fix: 'Send Access-Control-Allow-Origin: * with the well-known documents.',
  },
  header_cache: {
    area: 'headers',
    severity: 'minor',
    title: 'A document with keys may be cached for too long',
    fix: 'Let keys and trust bundles be cached for a day at most, so that revocations arrive.',
  },
  rate_limit_unstated: {
    area: 'limits',
    severity: 'major',
    title: 'No answer states a rate limit',
    fix: 'Send RateLimit and RateLimit-Policy with calls that are counted.',
  },
  body_limit_fails: {
    area: 'limits',
    severity: 'critical',
    title: 'A large body makes the service fail',
    fix: 'Limit bodies before they are read, and answer 413.',
  },
  error_status: {
    area: 'errors',
    severity: 'critical',
    title: 'A bad request is not answered with 4xx',
    fix: 'Answer a caller’s mistake with 4xx, and an unknown path with 404.',
  },
  error_not_problem: {
    area: 'errors',
    severity: 'major',
    title: 'An error is not a problem document',
    fix: 'Answer errors as application/problem+json with title and status (RFC 9457).',
  },
  error_no_code: {
    area: 'errors',
    severity: 'minor',
    title: 'An error has no stable code',
    fix: 'Give each kind of error a code or a type of its own that never changes.',
  },
  error_trace: {
    area: 'errors',
    severity: 'critical',
    title: 'An error reveals internals',
    fix: 'Keep stack traces and file names in the log; answer with a code and a sentence.',
  },
} as const satisfies Record<string, FindingDefinition>;

export type FindingCode = keyof typeof FINDINGS;
