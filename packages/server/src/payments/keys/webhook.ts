import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { canonicalize, type JsonObject, signRequest, utf8 } from '@tallystick/core';
import type { OwnIssuer } from '../../issuers/own-issuer.ts';
import { isPublicAddress } from './public-address.ts';

/** Where a domain takes its keys; no caller chooses the path. */
export const KEY_WEBHOOK_PATH = '/.well-known/tally-key';

export interface WebhookOptions {
  readonly issuer: Pick<OwnIssuer, 'did' | 'signer'>;
  /** Lets a loopback host be called, over HTTP. */
  readonly development: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly resolve?: (host: string) => Promise<readonly { readonly address: string }[]>;
  /** From the look-up of the name to the answer's head. */
  readonly timeoutMs?: number;
}

/** Posts a document to a domain; resolves once it was taken (2xx). @throws Error, whose message says why it was not */
export type PostToDomain = (domain: string, document: JsonObject) => Promise<void>;

const TIMEOUT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1):\d+$/;

/**
 * A guarded way to a host that a stranger has named: HTTPS on port 443 and a fixed path, public addresses only, of which
 * the one that was checked is the one that is connected to; no redirect is followed, and nothing of the answer is read
 * but its status. The request is signed as the service's DID (RFC 9421; spec/identity.md).
 */
export function createWebhook(options: WebhookOptions): PostToDomain {
  const { issuer, development, clock, timeoutMs = TIMEOUT_MS } = options;
  const resolve = options.resolve ?? ((host: string) => lookup(host, { all: true, verbatim: true }));

  return async (domain, document) => {
    const local = development && LOOPBACK.test(domain);
    const url = new URL(`${local ? 'http' : 'https'}://${domain}${KEY_WEBHOOK_PATH}`);
    const deadline = AbortSignal.timeout(timeoutMs);
    const address = local ? '127.0.0.1' : await publicAddressOf(url.hostname, resolve, deadline);
    const body = utf8(canonicalize(document));
    const signer = { did: issuer.did, signer: issuer.signer('receipt') };
    const moment = { created: Math.floor(clock() / 1000), nonce: randomUUID() };
    const signed = await signRequest({ method: 'POST', url, body }, signer, moment);
    const status = await post({ url, address, body, headers: signed, signal: deadline });
    if (status < 200 || status > 299) throw new Error(`${domain} answered ${status}.`);
  };
}

async function publicAddressOf(
  host: string,
  resolve: NonNullable<WebhookOptions['resolve']>,
  deadline: AbortSignal,
): Promise<string> {
  const found = await Promise.race([resolve(host), aborted(deadline)]);
  const [first] = found;
  if (first === undefined) throw new Error(`${host} has no address.`);
  // One that is not public among many is enough: which one is connected to must not be up to chance.
  if (!found.every(({ address }) => isPublicAddress(address)))
    throw new Error(`${host} has an address that is not public.`);
  return first.address;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The look-up of the name took too long.')));
  });
}

interface Post {
  readonly url: URL;
  /** The one that was checked. */
  readonly address: string;
  readonly body: Uint8Array;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

/** The status of the answer. Node’s client follows no redirect. */
function post({ url, address, body, headers, signal }: Post): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((done, fail) => {
    const call = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
      // Else the name would be looked up again, and could lead elsewhere.
      lookup: (_host, options, callback) => {
        const family = isIP(address);
        if (options.all === true) callback(null, [{ address, family }]);
        else callback(null, address, family);
      },
      agent: false,
      signal,
    });
    call.once('response', (response) => {
      response.destroy();
      done(response.statusCode ?? 0);
    });
    call.once('error', (error: NodeJS.ErrnoException) =>
      fail(
        new Error(
          `${url.host} can’t be reached (${signal.aborted ? 'timeout' : (error.code ?? error.name)}).`,
        ),
      ),
    );
    call.end(body);
  });
}
