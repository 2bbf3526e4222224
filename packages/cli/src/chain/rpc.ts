import { TallyError } from '@tallystick/core';

/** Largest answer that is read, in bytes: larger than any block's header with the hashes of its transactions. */
const MAX_ANSWER_BYTES = 4_194_304;

/** JSON-RPC 2.0 over HTTP: one request, one attempt. The result is not checked. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Connects to a node of an Ethereum chain. Its URL may hold a secret, so no error contains any part of it.
 * @param timeoutMs timeout of one request, to the last byte of its answer
 * @throws chain_unavailable when the node can't be reached, times out, refuses, or its answer is not JSON-RPC
 */
export function openRpc(url: string, timeoutMs: number): Rpc {
  const { address, headers } = withoutCredentials(new URL(url));
  return async (method, params) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await exchange(address, {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
      signal,
    }).catch((error: unknown) => {
      throw unavailable(method, signal.aborted ? `gave no answer in ${timeoutMs} ms` : whatFailed(error));
    });
    const { result, error } = (parsed(answer) ?? {}) as {
      result?: unknown;
      error?: { code?: unknown } | null;
    };
    if (error) throw unavailable(method, `refused (error ${Number(error.code)})`);
    if (result === undefined) throw unavailable(method, 'answered what is no JSON-RPC');
    return result;
  };
}

export function unavailable(method: string, what: string): TallyError {
  return new TallyError('chain_unavailable', `The chain’s node, asked ${method}, ${what}.`);
}

/** Moves user and password from the URL to a header, because `fetch` accepts no URL with them. */
function withoutCredentials(url: URL): { address: string; headers: Record<string, string> } {
  const { username, password } = url;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  if (username === '' && password === '') return { address: url.href, headers };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { address: url.href, headers: { ...headers, authorization } };
}

/** A failed request, described in the project's own words: those of `fetch` quote the URL. */
class Failure extends Error {}

async function exchange(address: string, request: RequestInit): Promise<string> {
  const response = await fetch(address, request);
  if (!response.ok) throw new Failure(`answered with status ${response.status}`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Failure(`answered more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function whatFailed(error: unknown): string {
  if (error instanceof Failure) return error.message;
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]{2,40}$/.test(at.code))
      return `can’t be reached (${at.code})`;
  }
  return 'can’t be reached';
}

function parsed(text: string): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' ? answer : null;
  } catch {
    return null;
  }
}
