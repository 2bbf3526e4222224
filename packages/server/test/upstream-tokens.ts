import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import type { JsonObject } from '@tallystick/core';

/** The client of Microsoft Entra that the endpoint knows. */
export const ENTRA = {
  clientId: 'app-1',
  secret: 'entra-secret-0123456789',
  scope: 'https://azure.test/.default',
};

const EMAIL = 'robot@project.test';
const AUDIENCE = 'https://tokens.test/token';

let keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject } | null = null;
const keyPair = (): NonNullable<typeof keys> =>
  (keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 }));

/** The JSON key of the service account that the endpoint knows. */
export function serviceAccount(): string {
  return JSON.stringify({
    type: 'service_account',
    private_key_id: 'key-1',
    private_key: keyPair().privateKey.export({ format: 'pem', type: 'pkcs8' }),
    client_email: EMAIL,
    token_uri: AUDIENCE,
  });
}

/** A token endpoint (RFC 6749) for signed assertions (RFC 7523) and for a client's secret; it checks both. */
export class TokenEndpoint {
  /** Tokens that it has issued, in their order. */
  readonly issued: string[] = [];
  /** Answered instead of a token. */
  failure: { readonly status: number; readonly body: JsonObject } | null = null;

  answer(form: URLSearchParams): { readonly status: number; readonly body: JsonObject } {
    if (this.failure !== null) return this.failure;
    const known = form.get('assertion') === null ? isClient(form) : isAssertion(form);
    if (!known) return { status: 400, body: { error: 'invalid_grant', error_description: form.toString() } };
    const token = `token-secret-${this.issued.length + 1}`;
    this.issued.push(token);
    return { status: 200, body: { access_token: token, expires_in: 3_600, token_type: 'Bearer' } };
  }

  /** Whether the value of an `authorization` header holds one of its tokens. */
  accepts(authorization: string | undefined): boolean {
    return this.issued.some((token) => authorization === `Bearer ${token}`);
  }
}

function isClient(form: URLSearchParams): boolean {
  const given = ['grant_type', 'client_id', 'client_secret', 'scope'].map((name) => form.get(name));
  return given.join() === ['client_credentials', ENTRA.clientId, ENTRA.secret, ENTRA.scope].join();
}

/** RFC 7523, section 3, and RFC 7515; written from them, and not with the library that signs. */
function isAssertion(form: URLSearchParams): boolean {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return false;
  const [head = '', payload = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const { alg, kid } = decoded(head);
  const { iss, aud, scope, iat, exp } = decoded(payload);
  const now = Date.now() / 1_000;
  return (
    verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${payload}`),
      keyPair().publicKey,
      Buffer.from(signature, 'base64url'),
    ) &&
    alg === 'RS256' &&
    kid === 'key-1' &&
    iss === EMAIL &&
    aud === AUDIENCE &&
    scope === 'https://www.googleapis.com/auth/cloud-platform' &&
    Number(iat) <= now + 1 &&
    Number(exp) > now &&
    Number(exp) <= Number(iat) + 3_600
  );
}

function decoded(part: string): JsonObject {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject;
}
