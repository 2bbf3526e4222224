/** The OpenAPI document's security schemes: where a request carries a credential, and how to get one. */
export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key of a tier: `k_pro_…`, `k_scale_…` or `k_ent_…`. `POST /v1/anchor/keys` sells one; the operator makes one with `tally apikey create`.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The same API key of a tier, where some clients of models put it.',
  },
  tenantKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of a tenant, `k_ten_…`. The operator makes it.',
  },
  partnerKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A partner’s API key, `k_par_…`, for the pilots. The operator makes it.',
  },
  operatorKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of an operator, `k_op_…`: `tally operator-key create`.',
  },
  messageSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Signature',
    description:
      'An HTTP message signature (RFC 9421, Ed25519) by the DID in `X-Agent-DID`. It goes with `Signature-Input` and, where there is a body, with `Content-Digest`. spec/identity.md says what it covers.',
  },
  messageSignatureInput: {
    type: 'apiKey',
    in: 'header',
    name: 'Signature-Input',
    description: 'What `Signature` covers, when it was made, its nonce and its key.',
  },
  payment: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description:
      'An x402 payment, as the `PAYMENT-REQUIRED` of a 402 asks for it, where payments are on. The same payment gets the same answer.',
  },
} as const;

type SchemeName = keyof typeof SECURITY_SCHEMES;

/** A way to authorize a request; `none` stands for a request that carries no credential. */
export type Credential = 'none' | Exclude<SchemeName, 'messageSignatureInput'>;

/** Credentials for what an account pays or shows: its API key, or the signature of its DID. */
export const ACCOUNT_CREDENTIALS = ['apiKey', 'apiKeyHeader', 'messageSignature'] as const;
/** Credentials for calling a model. */
export const CALL_CREDENTIALS = [...ACCOUNT_CREDENTIALS, 'payment'] as const;
/** Credentials for reads with a free daily limit. */
export const READ_CREDENTIALS = ['none', ...CALL_CREDENTIALS] as const;

/** The schemes that each credential needs together. */
const SCHEMES: Readonly<Record<Credential, readonly SchemeName[]>> = {
  none: [],
  apiKey: ['apiKey'],
  apiKeyHeader: ['apiKeyHeader'],
  tenantKey: ['tenantKey'],
  partnerKey: ['partnerKey'],
  operatorKey: ['operatorKey'],
  messageSignature: ['messageSignature', 'messageSignatureInput'],
  payment: ['payment'],
};

/** OpenAPI's security requirements of an operation: one for each way, of which any suffices; empty for a public operation. */
export function securityOf(credentials: readonly Credential[]): Record<string, string[]>[] {
  return credentials.map((credential) => Object.fromEntries(SCHEMES[credential].map((name) => [name, []])));
}

/** The request headers, in lower case, that carry these credentials. */
export function headersOfCredentials(credentials: readonly Credential[]): ReadonlySet<string> {
  const schemes = credentials.flatMap((credential) => SCHEMES[credential]);
  return new Set(
    schemes.map((name) => {
      const scheme = SECURITY_SCHEMES[name];
      return scheme.type === 'http' ? 'authorization' : scheme.name.toLowerCase();
    }),
  );
}
