import type { JsonObject } from '@tallystick/core';
import type { Span } from './span.ts';

/** A request as a domain sees it: what was sent, by whom, and where to note facts for the response. */
export interface Incoming {
  /** In upper case. */
  readonly method: string;
  /** Absolute URL, as it was sent. */
  readonly url: string;
  /** Address of the connection's other end; undefined where there is no socket. */
  readonly remoteAddress: string | undefined;
  /** The `Idempotency-Key`, unchecked. A call that is carried in another request's body has its own. */
  readonly idempotencyKey: string | undefined;
  /** Whether this is the service's own probe. No request over a network can claim that. */
  readonly isProbe: boolean;
  /** The `X-Request-Id` of the answer. */
  readonly requestId: string;
  /** Trace that the request belongs to, 32 hex digits: the caller's, or one of its own; null where there is none. */
  readonly traceId: string | null;
  /** The request's own step of its trace; null while telemetry is off. */
  readonly span: Span | null;
  /** A request header as one string; undefined where it is absent. */
  header(lowerCaseName: string): string | undefined;
  /** Notes a fact for the response; it is told even if the request is refused afterwards. */
  note(fact: AnswerFact): void;
  /** Adds to what the log and the trace tell of the request. What was told before under the same name is replaced. */
  tell(facts: RequestFacts): void;
}

/**
 * Who sent a request and what came of it, as the log and the trace tell it. Nothing here is a secret, and nothing the
 * text of a prompt, an answer or a document.
 */
export interface RequestFacts {
  /** Public name of the API key: `key_…`, never the key. */
  readonly key?: string;
  /** The DID of `X-Agent-DID`. */
  readonly did?: string;
  /** Whether a message signature proved the DID. */
  readonly didProved?: boolean;
  /** Id of the receipt that was issued. */
  readonly receipt?: string;
  /** Name of the catalogue of the model that answered, and of its provider. */
  readonly model?: string;
  readonly provider?: string;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  /** What the caller was charged, in USDC as decimal text. */
  readonly chargedUsdc?: string;
  /** The code of the error that was answered, or that ended a stream. */
  readonly code?: string;
}

/** The carrier of a request: an exchange of `http/`, or a call of an MCP tool. */
export interface Received {
  readonly incoming: Incoming;
}

/** A request with the body that its signature may cover. */
export interface ReceivedBody extends Received {
  /** The exact bytes of the body; empty where there is none. */
  readonly rawBody: Uint8Array;
}

/** A number of requests, or bytes, in a window of time. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  /** Length of the window in seconds. */
  readonly seconds: number;
  /** Unix seconds at which the next window begins. */
  readonly resetAt: number;
}

/** A fact of a response besides its status and body. Only the HTTP layer knows in which header it goes. */
export type AnswerFact =
  /** How much of a quota is used; `left` is in seconds until the next window. */
  | { readonly kind: 'rate_limit'; readonly window: RateWindow; readonly used: number; readonly left: number }
  /** x402's document of a settled payment. */
  | { readonly kind: 'payment_settled'; readonly document: JsonObject }
  /** Id of the receipt of a settlement that followed its delivery. */
  | { readonly kind: 'settlement_receipt'; readonly receiptId: string }
  /** The available balance of the account that pays, in USDC as decimal text. */
  | { readonly kind: 'low_balance'; readonly available: string }
  /** What the caller's tightest budget leaves, in USDC as decimal text. */
  | { readonly kind: 'budget_left'; readonly left: string };

/** Seconds until the next window, rounded up. `now` is in Unix milliseconds. */
export function secondsLeft({ resetAt }: RateWindow, now: number): number {
  return Math.ceil(resetAt - now / 1_000);
}

/** Carries a request whose response nobody reads: facts noted on it are dropped. */
export const UNHEARD: Received = {
  incoming: {
    method: 'GET',
    url: 'http://localhost/',
    remoteAddress: undefined,
    idempotencyKey: undefined,
    isProbe: false,
    requestId: '',
    traceId: null,
    span: null,
    header: () => undefined,
    note: () => undefined,
    tell: () => undefined,
  },
};
