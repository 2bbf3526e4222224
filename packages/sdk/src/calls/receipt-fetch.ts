import {
  anchoredHash,
  CallCollector,
  type CallProtocol,
  type CallVerdict,
  type JsonObject,
  type Referenced,
  TallyError,
  type Trust,
  verifyCall,
} from '@tallystick/core';
import type { WebFetchInput, WebRequestInit, WebResponse } from '../http/platform.ts';
import type { Session } from '../sessions/session.ts';
import { type KnownIssuers, knownIssuers } from '../trust/known-issuers.ts';

/** A `fetch` as clients of OpenAI and Anthropic take it. */
export type ClientFetch = (input: WebFetchInput, init?: WebRequestInit) => Promise<WebResponse>;

/** What is reported of one call. */
export interface CallReport {
  /** The `X-Receipt-Id` of the answer. */
  readonly receiptId: string;
  /**
   * The receipt in the answer, as it came; null if the reader left the answer, or it broke off, before it. Then the service has
   * it: `verifyCall({ ...call, receipt })` with the receipt from `client.getReceipt(receiptId)`.
   */
  readonly receipt: JsonObject | null;
  /** The answer's member `svc`: the receipt, `routing`, `served`, `billing`, `compression`; null as for `receipt`. */
  readonly svc: JsonObject | null;
  /** The answer's own id, as its client sees it; null if it has none. */
  readonly answerId: string | null;
  /** The request's body, and the answer as it was collected, as `verifyCall` takes them. */
  readonly call: { readonly request: string | Uint8Array | undefined; readonly response: CallCollector };
  readonly protocol: CallProtocol | null;
  /** The verdict on the receipt, the request and the answer. Not valid if there is no receipt, or the request was a stream or a form, which nobody can compare. */
  readonly verdict: CallVerdict;
  /** Why the trust given could not be used, so that nobody was trusted; null if it could. */
  readonly trustError: TallyError | null;
}

export interface ReceiptFetchOptions extends KnownIssuers {
  /** Used in place of the platform's `fetch`. */
  readonly fetch?: ClientFetch | undefined;
  /**
   * Called once for each answer that has a receipt, when all of its body has passed, its reader left it, or it broke off. The
   * reader learns of the end after `onCall` has returned, and after the promise that it may return. An error of `onCall`
   * becomes the error of the body, so a caller can refuse an answer whose receipt is not valid.
   */
  readonly onCall?: ((report: CallReport) => unknown) | undefined;
  /**
   * The session of the agent that makes these calls. It gets a reference to each receipt whose verdict is valid, in the order in which
   * answers end, before `onCall` is called. If it can't be recorded, that is the error of the body.
   */
  readonly session?: Pick<Session, 'reference'> | undefined;
}

/**
 * Creates a `fetch` for clients of OpenAI, Anthropic and others whose base URL is the service's. It passes requests and answers
 * through unchanged, collects them while they pass, and verifies each call against its receipt, without requests of its
 * own. It hears of an answer only if the caller reads its body. Errors of the service (status 400 and above), and answers
 * without `X-Receipt-Id`, pass unreported.
 */
export function receiptFetch({ fetch, onCall, session, ...issuers }: ReceiptFetchOptions): ClientFetch {
  const send: ClientFetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
  return async (input, init) => {
    const request = requestBody(input, init).catch((): typeof UNSEEN => UNSEEN);
    const response = await send(input, init);
    const receiptId = response.headers.get('x-receipt-id');
    if (receiptId === null || !response.ok || response.body === null) return response;
    const trusted = openTrust(issuers);
    const collector = new CallCollector();
    const report = async (): Promise<void> => {
      const { trust, trustError } = await trusted;
      const sent = await request;
      const call = { request: sent === UNSEEN ? undefined : sent, response: collector };
      const judged = await verifyCall({ ...call, trust, now: Date.now() });
      const verdict = sent === UNSEEN ? withoutRequest(judged) : judged;
      const { receipt, protocol } = verdict;
      const { svc, answerId } = collector.end();
      if (receipt !== null && verdict.valid)
        await session?.reference(referenceTo(verdict.receipt_id ?? receiptId, receipt));
      await onCall?.({ receiptId, receipt, svc, answerId, call, protocol, verdict, trustError });
    };
    return withBody(
      response,
      observed(response.body, (bytes) => collector.push(bytes), report),
    );
  };
}

/** @param receipt whose form was checked */
function referenceTo(receiptId: string, receipt: JsonObject): Referenced {
  return { receipt_id: receiptId, receipt_sha256: `sha256:${anchoredHash(receipt)}` };
}

interface OpenedTrust {
  readonly trust: Trust | undefined;
  readonly trustError: TallyError | null;
}

async function openTrust(issuers: KnownIssuers): Promise<OpenedTrust> {
  try {
    return { trust: await knownIssuers(issuers, Date.now()), trustError: null };
  } catch (cause) {
    const trustError =
      cause instanceof TallyError
        ? cause
        : new TallyError('trust_unavailable', 'The trust store could not be read.', { cause });
    return { trust: undefined, trustError };
  }
}

/** A body that was sent and can't be read: a stream or a form. */
const UNSEEN = Symbol('unseen');

/** A verdict on a call whose request is not known: the receipt may be of another one. */
function withoutRequest(verdict: CallVerdict): CallVerdict {
  const detail = 'The request was sent as a stream or a form, and could not be compared.';
  return {
    ...verdict,
    valid: false,
    checks: verdict.checks.map((check) =>
      check.name === 'request' ? { ...check, ok: false, detail } : check,
    ),
  };
}

/** The text or bytes of a request's body; undefined if it has none. */
async function requestBody(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<string | Uint8Array | typeof UNSEEN | undefined> {
  const { body } = init;
  if (typeof body === 'string') return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body).slice();
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer());
  if (body !== undefined && body !== null) return UNSEEN;
  // Not by its class: a `Request` may be of another implementation than the platform's.
  if (typeof input === 'string' || !('body' in input) || input.body === null) return undefined;
  return new Uint8Array(await input.clone().arrayBuffer());
}

/** The source's bytes, one read for one read, each shown to `push` first. `end` is called once, before the reader sees the end. */
function observed(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  push: (bytes: Uint8Array) => void,
  end: () => Promise<void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  let ended: Promise<void> | undefined;
  // A reader that leaves while it waits ends twice.
  const endOnce = (): Promise<void> => (ended ??= end());
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await reader.read().catch(async (error: unknown) => {
          await endOnce();
          throw error;
        });
        if (next.done) {
          await endOnce();
          controller.close();
        } else {
          push(next.value);
          controller.enqueue(next.value);
        }
      },
      async cancel(reason) {
        // An aborted source rejects here; what passed until then is reported all the same.
        await reader.cancel(reason).catch(() => {});
        await endOnce();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The response with another body. */
function withBody(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) {
    Object.defineProperty(copy, name, { value });
  }
  return copy;
}
