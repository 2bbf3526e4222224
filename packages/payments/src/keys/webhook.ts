import { randomUUID } from 'node:crypto';
import { canonicalize, type JsonObject, signRequest, utf8 } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { Resolve } from '@tallystick/kit';
import { createGuardedFetch, type GuardedFetch, guardPolicy } from '@tallystick/kit';

/** The path at which a domain receives its keys. No caller can choose it. */
export const KEY_WEBHOOK_PATH = '/.well-known/tally-key';

export interface WebhookOptions {
  readonly issuer: Pick<OwnIssuer, 'did' | 'signer'>;
  /** Whether a loopback host may be called, by HTTP. */
  readonly development: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly resolve?: Resolve;
  /** Milliseconds from the name look-up to the end of the response. */
  readonly timeoutMs?: number;
}

/** Posts a document to a domain. Resolves once it was accepted (2xx). @throws Error, whose message says why it was not */
export type PostToDomain = (domain: string, document: JsonObject) => Promise<void>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1):\d+$/;

/**
 * Makes the function that posts to a host which a stranger has named, by `GuardedFetch`: HTTPS and a fixed path,
 * without following redirects. The request is signed as the service's DID (RFC 9421; spec/identity.md).
 */
export function createWebhook(options: WebhookOptions): PostToDomain {
  const { issuer, development, clock, resolve, timeoutMs = TIMEOUT_MS } = options;
  const limits = { totalMs: timeoutMs, headMs: timeoutMs, bodyBytes: MAX_ANSWER_BYTES };
  const fetchUnder = (mode: 'development' | 'production'): GuardedFetch =>
    createGuardedFetch({ policy: guardPolicy({ mode }), limits, ...(resolve && { resolve }) });
  const fetchLocal = fetchUnder('development');
  const fetchPublic = fetchUnder('production');

  return async (domain, document) => {
    const local = development && LOOPBACK.test(domain);
    const url = new URL(`${local ? 'http' : 'https'}://${domain}${KEY_WEBHOOK_PATH}`);
    const body = utf8(canonicalize(document));
    const signer = { did: issuer.did, signer: issuer.signer('receipt') };
    const moment = { created: Math.floor(clock() / 1000), nonce: randomUUID() };
    const signed = await signRequest({ method: 'POST', url, body }, signer, moment);
    const { status } = await (local ? fetchLocal : fetchPublic)(url.href, {
      method: 'POST',
      headers: { ...signed, 'content-type': 'application/json' },
      body,
    });
    if (status < 200 || status > 299) throw new Error(`${domain} answered ${status}.`);
  };
}
