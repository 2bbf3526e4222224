import { setImmediate } from 'node:timers/promises';
import {
  type ErrorCode,
  errorTable,
  isObject,
  type JsonValue,
  parseJson,
  TallyError,
  utf8,
} from '@tallystick/core';
import { Option } from 'commander';
import { parseNamed } from './input.ts';
import { UsageError } from './output.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8787';
const TIMEOUT_MS = 30_000;

/** `--url`, read from TALLY_URL where it is not given. */
export function urlOption(): Option {
  return new Option('--url <url>', 'the service').env('TALLY_URL').default(DEFAULT_URL).argParser(serviceUrl);
}

/**
 * A service's URL in the one form by which it is remembered: scheme, host, port and perhaps a path, without a
 * trailing slash.
 * @throws UsageError
 */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const host = /^[\w.-]+(?::\d+)?(?:\/|$)/.test(text) ? ` Did you mean https://${text}?` : '';
    throw new UsageError(`“${text}” is not the URL of a service, such as ${DEFAULT_URL}.${host}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('The URL of a service has no credentials, query or fragment.');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** An answer: its text to the byte, and the JSON in it. */
export interface Reply {
  readonly text: string;
  readonly body: JsonValue;
  readonly headers: Headers;
}

/**
 * Asks the service at `base` (see `serviceUrl`): POST with a body, GET without.
 * @throws the service's own code for a problem document; unavailable where nothing, or something else, answers
 */
export async function call(
  base: string,
  path: string,
  init: { body?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const headers = {
    ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...init.headers,
  };
  const request: RequestInit = {
    method: init.body === undefined ? 'GET' : 'POST',
    headers,
    redirect: 'manual',
  };
  if (init.body !== undefined) request.body = init.body;
  return ask(base, path, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/**
 * Posts JSON lines that are made while they are sent. No more of them is asked for once the service has answered;
 * the time allowed starts anew with each piece.
 * @param pieces whole lines
 * @throws what `pieces` throws, and what `call` does
 */
export async function upload(
  base: string,
  path: string,
  pieces: Iterator<Uint8Array, void, undefined>,
  headers: Record<string, string>,
): Promise<Reply> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new DOMException('Stalled', 'TimeoutError')), TIMEOUT_MS);
  const state: BodyState = { answered: false, fault: null };
  const request: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', ...headers },
    // Else `fetch` clones the request, to send it again elsewhere, and the clone holds all of the body.
    redirect: 'error',
    body: bodyOf(pieces, state, () => timer.refresh()),
    duplex: 'half',
    signal: stalled.signal,
  };
  try {
    return await ask(base, path, request, () => {
      state.answered = true;
    });
  } catch (error) {
    throw state.fault === null ? error : state.fault.error;
  } finally {
    clearTimeout(timer);
    pieces.return?.();
  }
}

interface BodyState {
  answered: boolean;
  fault: { readonly error: unknown } | null;
}

/** `fetch` rejects with an error of its own when its body breaks, so the body's is kept in the state. */
function bodyOf(
  pieces: Iterator<Uint8Array, void, undefined>,
  state: BodyState,
  onPiece: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      onPiece();
      // Else `fetch` would write on and on, and learn of an early answer only when its connection is gone.
      await setImmediate();
      if (state.answered) return controller.close();
      try {
        const { done, value } = pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        state.fault = { error };
        controller.error(error);
      }
    },
  });
}

/**
 * What stands at a path, to the byte. Throws as `call` does.
 * @param accept the media type asked for
 */
export async function download(base: string, path: string, accept = '*/*'): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { response, bytes } = await send(base, path, { headers: { accept }, redirect: 'manual', signal });
  if (!response.ok) throw problem(base, response, textOf(bytes));
  return bytes;
}

async function ask(base: string, path: string, request: RequestInit, onAnswer?: () => void): Promise<Reply> {
  const { response, bytes } = await send(base, path, request, onAnswer);
  const text = textOf(bytes);
  if (!response.ok) throw problem(base, response, text);
  const body = parseNamed(utf8(text), `The answer of ${base}`);
  return { text, body, headers: response.headers };
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

async function send(
  base: string,
  path: string,
  request: RequestInit,
  onAnswer: () => void = () => {},
): Promise<{ response: Response; bytes: Uint8Array }> {
  try {
    const response = await fetch(`${base}${path}`, request);
    onAnswer();
    return { response, bytes: await response.bytes() };
  } catch (cause) {
    throw new TallyError('unavailable', unreached(base, cause), { cause });
  }
}

function unreached(base: string, error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${base} did not answer within ${TIMEOUT_MS / 1000} s.`;
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (cause?.message === 'unexpected redirect')
    return `${base} redirects elsewhere: give the service’s own URL.`;
  const why = cause?.code === undefined ? '' : ` (${cause.code})`;
  return `Nothing answers at ${base}${why}. Start a service with: tally serve. Or name another with --url or TALLY_URL.`;
}

function problem(base: string, response: Response, text: string): Error {
  const document = parsed(text);
  if (isObject(document) && typeof document.code === 'string' && Object.hasOwn(errorTable, document.code)) {
    const field = typeof document.field === 'string' ? document.field : undefined;
    const detail =
      typeof document.detail === 'string' ? document.detail : `The service answered ${response.status}.`;
    const after = response.headers.get('retry-after');
    const wait = after === null ? '' : ` Try again in ${after} s.`;
    return new TallyError(document.code as ErrorCode, `${detail}${wait}`, {
      field,
    });
  }
  const location = response.headers.get('location');
  const where = location === null ? '' : ` It redirects to ${location}: give the service’s own URL.`;
  return new TallyError(
    'unavailable',
    `${base} answered ${response.status} and does not look like Tallystick.${where}`,
  );
}

function parsed(text: string): JsonValue {
  try {
    return parseJson(utf8(text));
  } catch {
    return null;
  }
}
