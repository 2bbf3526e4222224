import { type AccessTokens, type OAuthOptions, openAccessTokens } from './access-tokens.ts';
import { openaiProviderOf } from './openai.ts';
import type { Provider } from './provider.ts';
import { openUpstream, type UpstreamOptions } from './upstream.ts';

/**
 * OpenAI's models at Azure; a model's name is that of its deployment. Without a version of the API, the base URL ends with
 * `/openai/v1`; with one, it ends with `/openai`, and the URL of each call names the deployment. With `oauth`, a key is the
 * secret of an application of Microsoft Entra, which is exchanged for access tokens (RFC 6749, section 4.4).
 */
export function azureProvider(options: UpstreamOptions): Provider {
  const { name, apiVersion = null, oauth = null } = options;
  const upstream = openUpstream(
    options,
    oauth === null ? { keyHeader: 'api-key' } : { tokens: entraTokens(name, oauth) },
  );
  return openaiProviderOf(options, upstream, (model, operation) => {
    if (apiVersion === null) return `/${operation}`;
    // The body of Responses names the deployment.
    const prefix = operation === 'responses' ? '' : `/deployments/${encodeURIComponent(model)}`;
    return `${prefix}/${operation}?api-version=${apiVersion}`;
  });
}

function entraTokens(name: string, { tokenUrl, clientId, scope }: OAuthOptions): AccessTokens {
  return openAccessTokens({
    name,
    tokenUrl,
    grant: (secret) => ({
      grant_type: 'client_credentials',
      client_id: clientId ?? '',
      client_secret: secret,
      scope: scope ?? 'https://cognitiveservices.azure.com/.default',
    }),
  });
}
