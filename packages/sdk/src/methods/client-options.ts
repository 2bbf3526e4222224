import { TallyError } from '@tallystick/core';
import type { ClientFetch } from '../calls/receipt-fetch.ts';
import { placesOf } from '../http/base-url.ts';
import { identify, prove } from '../http/credentials.ts';
import { fetchOf, type TransportOptions } from '../http/transport.ts';

/** What the clients of model providers take to talk to this service: `new OpenAI(options)`, `new Anthropic(options)`. */
export interface ModelClientOptions {
  /** `<apiUrl>/v1/compute` */
  readonly baseURL: string;
  /** The API key; `unused` where there is none, since those clients insist on one. `fetch` does not send it then. */
  readonly apiKey: string;
  /**
   * Sends a request with the credentials of our client in place of its own: with an `agent` it is signed, for which a body is read
   * into memory. It rejects with `invalid_field` for another address than `baseURL`.
   */
  readonly fetch: ClientFetch;
}

/** Headers in which clients of models send a key of their own, perhaps one that they found in the environment. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'api-key'];

/** Options for another client by which it calls the same service as the same caller. @throws invalid_field for an invalid address */
export function clientOptions(options: TransportOptions): ModelClientOptions {
  const path = '/v1/compute';
  const baseURL = `${placesOf(options)(path).url}${path}`;
  const { agent } = options;
  const inner = fetchOf(options);
  const fetch: ClientFetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.startsWith(`${baseURL}/`)) {
      const message = `This fetch has credentials for ${baseURL} only, not for ${new URL(request.url).origin}.`;
      throw new TallyError('invalid_field', message, { field: 'url' });
    }
    const { method, url } = request;
    const headers = new Headers(request.headers);
    for (const name of KEY_HEADERS) headers.delete(name);
    identify(headers, options);
    const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    if (agent !== undefined) await prove(headers, { method, url: new URL(url), body }, agent);
    // As in the transport, redirects are not followed. The signal of the new request may be collected before it fires.
    const signal = init?.signal ?? request.signal;
    return inner(url, { method, headers, body, redirect: 'manual', signal });
  };
  return { baseURL, apiKey: options.apiKey ?? 'unused', fetch };
}
