import { readFileSync } from 'node:fs';
import { parseJson, TallyError } from '@tallystick/core';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Where credentials are looked for, in this order. */
export interface AwsCredentialSources {
  /** From `AWS_ACCESS_KEY_ID` and its neighbours; null where they are not set. */
  readonly given: AwsCredentials | null;
  /** URL that a container's role is served at, with the token to show there; null outside of such a container. */
  readonly container: { readonly url: string; readonly tokenFile: string | null } | null;
  /** The shared credentials file and the profile in it. */
  readonly file: { readonly path: string; readonly profile: string };
}

const EARLY_MS = 300_000;
const TIMEOUT_MS = 5_000;

/**
 * Resolves to credentials that hold for some minutes yet. A container's role is asked again before its credentials expire; if it
 * gives none then, those that it gave are used until they do.
 */
export function awsCredentials(
  sources: AwsCredentialSources,
  send: typeof globalThis.fetch,
): () => Promise<AwsCredentials> {
  let cached: { readonly credentials: AwsCredentials; readonly until: number } | null = null;
  return async () => {
    if (sources.given !== null) return sources.given;
    if (sources.container === null) return ofFile(sources.file);
    const before = cached;
    if (before !== null && before.until - EARLY_MS >= Date.now()) return before.credentials;
    try {
      cached = await ofContainer(sources.container, send);
      return cached.credentials;
    } catch (error) {
      if (before === null || before.until <= Date.now()) throw error;
      return before.credentials;
    }
  };
}

/** Read each time, since other programs renew it. */
function ofFile({ path, profile }: AwsCredentialSources['file']): AwsCredentials {
  const members = new Map<string, string>();
  let section = '';
  for (const line of textOf(path, 'AWS_ACCESS_KEY_ID is not set, and').split('\n')) {
    section = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/.exec(line)?.[1] ?? section;
    const [, name = '', value = ''] = /^\s*(aws_\w+)\s*=\s*(\S+)/.exec(line) ?? [];
    if (section === profile) members.set(name, value);
  }
  const [id, secret, token] = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map(
    (name) => members.get(name),
  );
  if (id === undefined || secret === undefined)
    throw new TallyError('unavailable', `${path} has no access key for the profile ${profile}.`);
  return { accessKeyId: id, secretAccessKey: secret, ...(token !== undefined && { sessionToken: token }) };
}

async function ofContainer(
  { url, tokenFile }: NonNullable<AwsCredentialSources['container']>,
  send: typeof globalThis.fetch,
) {
  const authorization = tokenFile === null ? null : textOf(tokenFile, 'The container’s token').trim();
  try {
    const response = await send(url, {
      headers: authorization === null ? {} : { authorization },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = parseJson(new Uint8Array(await response.arrayBuffer())) as Record<string, unknown>;
    const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: until } = answer;
    if (typeof id === 'string' && typeof secret === 'string' && typeof token === 'string') {
      return {
        credentials: { accessKeyId: id, secretAccessKey: secret, sessionToken: token },
        until: Date.parse(String(until)) || 0,
      };
    }
  } catch {
    // The cause may quote the answer, which holds the credentials.
  }
  throw new TallyError('unavailable', `The AWS credentials of this container can't be had from ${url}.`);
}

function textOf(path: string, subject: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    throw new TallyError('unavailable', `${subject} ${path} can't be read (${code}).`, { cause });
  }
}
