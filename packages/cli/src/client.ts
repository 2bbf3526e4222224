import { errorTable, type ErrorCode, isObject, parseJson, TallyError } from '@tallystick/core';

export const DEFAULT_URL = 'http://127.0.0.1:8787';

/** The service's answer: its text to the byte, and its headers. */
export interface Reply {
  readonly text: string;
  readonly headers: Headers;
}

/** @throws the service's own code for a problem document; unavailable where nothing answers */
export async function call(base: string, path: string, init: { body?: string; headers?: Record<string, string> } = {}): Promise<Reply> {
  const url = new URL(path, base);
  const headers = { ...(init.body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers };
  const request: RequestInit = { method: init.body === undefined ? 'GET' : 'POST', headers, redirect: 'error' };
  if (init.body !== undefined) request.body = init.body;
  let response: Response;
  try {
    response = await fetch(url, { ...request, signal: AbortSignal.timeout(30_000) });
  } catch (cause) {
    throw new TallyError('unavailable', `Nothing answers at ${url.origin}. Is the service running? Choose another with --url.`, { cause });
  }
  const text = await response.text();
  if (!response.ok) throw problem(response.status, text);
  return { text, headers: response.headers };
}

function problem(status: number, text: string): Error {
  const document = parsed(text);
  if (isObject(document) && typeof document.code === 'string' && Object.hasOwn(errorTable, document.code)) {
    const field = typeof document.field === 'string' ? document.field : undefined;
    return new TallyError(document.code as ErrorCode, String(document.detail ?? document.title), { field });
  }
  return new TallyError('unavailable', `The service answered ${status}, which is not one of its own errors.`);
}

function parsed(text: string) {
  try {
    return parseJson(new TextEncoder().encode(text));
  } catch {
    return null;
  }
}
