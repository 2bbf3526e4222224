import { importPKCS8, SignJWT } from 'jose';
import { openAccessTokens } from './access-tokens.ts';
import { geminiError, generateContentProvider } from './gemini.ts';
import { type Provider, ProviderError } from './provider.ts';
import { googleTokens, serviceAccountOf } from './service-account.ts';
import { openUpstream, type UpstreamOptions } from './upstream.ts';

const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Gemini at Vertex AI. The base URL names project, location and publisher:
 * `https://<location>-aiplatform.googleapis.com/v1/projects/<project>/locations/<location>/publishers/google`. A key is the
 * JSON of a service account's key, which is exchanged for access tokens (RFC 7523) and is never sent itself.
 */
export function vertexProvider(options: UpstreamOptions): Provider {
  const { name, oauth } = options;
  const scope = oauth?.scope ?? cloudScope;
  const tokens = openAccessTokens({
    name,
    tokenUrl: oauth?.tokenUrl ?? googleTokens,
    grant: async (key) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await assertionOf(name, key, scope),
    }),
  });
  const upstream = openUpstream(options, { tokens, readError: geminiError });
  return generateContentProvider(name, upstream, '');
}

async function assertionOf(name: string, key: string, scope: string): Promise<string> {
  const account = serviceAccountOf(key);
  const signingKey = account && (await importPKCS8(account.privateKey, 'RS256').catch(() => null));
  // A cause would quote the key.
  if (account === null || signingKey === null)
    throw new ProviderError('auth', `${name} has no usable key of a service account`);
  const now = Math.floor(Date.now() / 1_000);
  return (
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.keyId !== null && { kid: account.keyId }) })
      .setIssuer(account.email)
      .setAudience(account.tokenUri)
      .setIssuedAt(now)
      // Google takes none that lasts longer.
      .setExpirationTime(now + 3_600)
      .sign(signingKey)
  );
}
