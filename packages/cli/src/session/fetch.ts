import { TallyError } from '@tallystick/core';
import { UsageError } from '../output.ts';

/** Largest session that is fetched, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

export function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/**
 * Fetches a session. The API key goes only to an address of the service at `url`; redirects are not followed.
 * @throws UsageError for an address that is not http or https; unavailable; body_too_large
 */
export async function fetchSession(
  text: string,
  { url, apiKey = '' }: { readonly url: string; readonly apiKey?: string },
): Promise<Uint8Array> {
  const address = URL.canParse(text) ? new URL(text) : null;
  if (
    address === null ||
    !/^https?:$/.test(address.protocol) ||
    address.username !== '' ||
    address.password !== ''
  )
    throw new UsageError(`“${text}” is not an http or https address without credentials.`);
  const headers = new Headers({ accept: 'application/jsonl' });
  if (apiKey !== '' && address.href.startsWith(`${url}/`)) headers.set('authorization', `Bearer ${apiKey}`);
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(address, { headers, redirect: 'error', signal });
    if (!response.ok) throw new TallyError('unavailable', `${text} answered with status ${response.status}.`);
    return await bytesOf(response, text);
  } catch (error) {
    if (error instanceof TallyError) throw error;
    const why =
      error instanceof Error && error.name === 'TimeoutError' ? ` within ${TIMEOUT_MS / 1000} s` : '';
    throw new TallyError('unavailable', `${text} can't be fetched${why}.`, { cause: error });
  }
}

async function bytesOf({ body }: Response, text: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES)
      throw new TallyError('body_too_large', `${text} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
