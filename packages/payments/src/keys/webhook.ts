import { randomUUID } from 'node:crypto';
import { canonicalize, type JsonObject, signRequest, utf8 } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { Resolve } from '@tallystick/kit';
import { createGuardedFetch, type GuardedFetch, guardPolicy } from '@tallystick/kit';

/** Where a domain takes its keys; no caller chooses the path. */
export const KEY_WEBHOOK_PATH = '/.well-known/tally-key';

export interface WebhookOptions {
  readonly issuer: Pick<OwnIssuer, 'did' | 'signer'>;
  /** Lets a loopback host be called, over HTTP. */
  readonly development: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly resolve?: Resolve;
  /** From the look-up of the name to the answer's end. */
  readonly timeoutMs?: number;
}

/** Posts a document to a domain; resolves once it was taken (2xx). @throws Error, whose message says why it was not */
export type PostToDomain = (domain: string, document: JsonObject) => Promise<void>;

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1):\d+$/;

/**
 * The guarded way (`GuardedFetch`) to a host that a stranger has named: HTTPS and a fixed path, and no redirect is
 * followed. The request is signed as the service's DID (RFC 9421; spec/identity.md).
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
