import type { IncomingMessage, ServerResponse } from 'node:http';
import { TallyError } from '@tallystick/core';

/**
 * What the app reads of a request: a part of the web's `Request`. To make a whole one loads Node's `fetch`, which takes 15 MB and 50 ms
 * of a start.
 */
export interface Asked {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: { get(lowerCaseName: string): string | null | undefined };
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal | null;
}

/** Node's own request and response, from which handlers read bodies and headers. */
export interface Bindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A request that Node's server received. */
export class ReceivedRequest implements Asked {
  readonly method: string;
  readonly url: string;
  readonly signal = null;
  readonly #incoming: IncomingMessage;

  /** @throws request_malformed where the request target and the Host header form no URL */
  constructor(incoming: IncomingMessage) {
    this.method = incoming.method ?? 'GET';
    this.url = urlOf(incoming);
    this.#incoming = incoming;
  }

  /** A reader that stops before the end of the body leaves the connection open, which the answer needs. */
  get body(): AsyncIterable<Uint8Array> {
    return this.#incoming.iterator({ destroyOnReturn: false });
  }

  get headers(): Headers {
    const { rawHeaders } = this.#incoming;
    const headers = new Headers();
    for (let i = 0; i < rawHeaders.length; i += 2)
      headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
    return headers;
  }
}

/** The host in the URL of an HTTP/1.0 request without Host. */
const HOST = 'localhost';
/** Paths and hosts that are in a URL what they are in the request. */
const PLAIN_PATH = /^\/[\w/-]*$/;
const PLAIN_HOST = /^[a-z0-9._-]+$/;

/** The URL that a request asks for (RFC 9112, section 3.3). The service speaks HTTP behind whatever ends TLS. */
function urlOf({ url: target = '', headers }: IncomingMessage): string {
  const host = headers.host || HOST;
  if (PLAIN_PATH.test(target) && PLAIN_HOST.test(host)) return `http://${host}${target}`;
  if (target.split('?', 1)[0]?.includes('\\')) throw malformed('Backslash in request path');
  if (/^https?:\/\//.test(target)) return (URL.parse(target) ?? refuse('Invalid absolute URL')).href;
  if (target !== '' && !target.startsWith('/')) throw malformed('Invalid URL');
  const url = URL.parse(`http://${host}${target}`) ?? refuse('Invalid URL');
  if (url.hostname !== host.replace(/:\d*$/, '').toLowerCase()) throw malformed('Invalid host header');
  return url.href;
}

function refuse(what: string): never {
  throw malformed(what);
}

function malformed(what: string): TallyError {
  return new TallyError(
    'request_malformed',
    `${what}: the request target and the Host header do not form a URL.`,
  );
}
