import { TallyError } from '@tallystick/core';
import { getHttpRpcClient } from 'viem/utils';
import { z } from 'zod';

/** Largest answer that is read, in bytes: larger than any block's header with the hashes of its transactions. */
const MAX_ANSWER_BYTES = 4_194_304;
const MAX_REASON_LENGTH = 200;

/** The node's text about a request that it refuses, without any part of the RPC URL. */
interface RpcRefusal {
  readonly code: number;
  readonly reason: string;
}

type Answer<T> = { readonly result: T } | { readonly refusal: RpcRefusal };

/** JSON-RPC 2.0 over HTTP: each request is attempted once, and its answer is checked by a schema. */
export interface Rpc {
  /** Resolves to the result. @throws chain_unavailable also when the node refuses */
  call<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T>;
  /** Resolves to the result or to the node's refusal. @throws chain_unavailable */
  ask<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<Answer<T>>;
}

const errorSchema = z.object({ code: z.number().catch(0), message: z.string() });

/** @param url may hold credentials; it never appears in an error */
export function openRpc(url: string, timeoutMs: number): Rpc {
  const client = getHttpRpcClient(url, { maxResponseBodySize: MAX_ANSWER_BYTES, timeout: 0 });
  const scrub = scrubber(url);

  async function send(method: string, params: readonly unknown[]): Promise<object> {
    // The signal also covers the reading of the body, which the client's own timeout does not.
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const answer: unknown = await client.request({
        body: { method, params },
        fetchOptions: { signal, redirect: 'error' },
      });
      if (typeof answer === 'object' && answer !== null) return answer;
    } catch (error) {
      // The client's errors quote the URL and the body, so they are not passed on as causes.
      throw unavailable(method, signal.aborted ? `gave no answer in ${timeoutMs} ms` : whatFailed(error));
    }
    throw unavailable(method, 'answered in an unexpected form');
  }

  async function ask<T>(
    method: string,
    params: readonly unknown[],
    schema: z.ZodType<T>,
  ): Promise<Answer<T>> {
    const answer = await send(method, params);
    const { error } = answer as { error?: unknown };
    if (error !== undefined && error !== null) {
      const { data } = errorSchema.safeParse(error);
      return { refusal: { code: data?.code ?? 0, reason: scrub(data?.message ?? 'no reason given') } };
    }
    const { data, success } = schema.safeParse((answer as { result?: unknown }).result);
    if (!success) throw unavailable(method, 'answered in an unexpected form');
    return { result: data };
  }

  return {
    ask,
    call: async (method, params, schema) => {
      const answer = await ask(method, params, schema);
      if ('refusal' in answer) throw unavailable(method, `refused: ${answer.refusal.reason}`);
      return answer.result;
    },
  };
}

export function unavailable(method: string, what: string): TallyError {
  return new TallyError('chain_unavailable', `Asked for ${method}, the chain’s node ${what}.`);
}

function whatFailed(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('status' in at && typeof at.status === 'number') return `answered with status ${at.status}`;
    if (at.name === 'ResponseBodyTooLargeError') return `answered with more than ${MAX_ANSWER_BYTES} bytes`;
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]{2,40}$/.test(at.code))
      return `can’t be reached (${at.code})`;
  }
  return 'can’t be reached';
}

/** Returns a function that cuts a node's text to one short line and removes every part of the URL that could be a secret. */
function scrubber(text: string): (reason: string) => string {
  const url = new URL(text);
  const secrets = [
    text,
    url.href,
    url.host,
    url.hostname,
    url.username,
    url.password,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
  ].flatMap((part) => [part, decoded(part)]);
  const longestFirst = secrets.filter((part) => part.length > 3).sort((a, b) => b.length - a.length);
  return (reason) =>
    longestFirst
      .reduce((line, secret) => line.replaceAll(secret, '…'), reason)
      .replaceAll(/[\p{C}\s]+/gu, ' ')
      .slice(0, MAX_REASON_LENGTH);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
