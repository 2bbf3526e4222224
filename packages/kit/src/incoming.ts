import type { JsonObject } from '@tallystick/core';

/** A request as a domain sees it: what was sent, by whom, and where to note what its answer has to say. */
export interface Incoming {
  /** In upper case. */
  readonly method: string;
  /** Absolute, as it was sent. */
  readonly url: string;
  /** Address of the other end of the connection; undefined where there is no socket. */
  readonly remoteAddress: string | undefined;
  /** The `Idempotency-Key`, not checked; of a call inside another request's body its own. */
  readonly idempotencyKey: string | undefined;
  /** Whether the service asks itself, to see how it is. Nothing that is sent over a network can say so. */
  readonly isProbe: boolean;
  /** A request header as one string; undefined where it is absent. */
  header(lowerCaseName: string): string | undefined;
  /** Notes a fact that the answer tells, also when the request is refused afterwards. */
  note(fact: AnswerFact): void;
}

/** Whatever carries a request: an exchange of `http/`, or a call of a tool. */
export interface Received {
  readonly incoming: Incoming;
}

/** A request with the body that its signature may cover. */
export interface ReceivedBody extends Received {
  /** To the byte; empty where there is none. */
  readonly rawBody: Uint8Array;
}

/** So much in a window of time. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  /** Length of the window in seconds. */
  readonly seconds: number;
  /** Unix seconds at which the next window begins. */
  readonly resetAt: number;
}

/** What an answer tells besides its status and body. The HTTP layer alone knows in which header. */
export type AnswerFact =
  /** How much of a quota is used; `left` is in seconds until the next window. */
  | { readonly kind: 'rate_limit'; readonly window: RateWindow; readonly used: number; readonly left: number }
  /** x402's document of a settled payment. */
  | { readonly kind: 'payment_settled'; readonly document: JsonObject }
  /** Id of the receipt of a settlement that followed its delivery. */
  | { readonly kind: 'settlement_receipt'; readonly receiptId: string }
  /** What is available in the account that pays, in USDC as decimal text. */
  | { readonly kind: 'low_balance'; readonly available: string };

/** Seconds until the next window, rounded up. `now` is in Unix milliseconds. */
export function secondsLeft({ resetAt }: RateWindow, now: number): number {
  return Math.ceil(resetAt - now / 1_000);
}

/** A request that nobody waits for the answer of: what is noted on it is forgotten. */
export const UNHEARD: Received = {
  incoming: {
    method: 'GET',
    url: 'http://localhost/',
    remoteAddress: undefined,
    idempotencyKey: undefined,
    isProbe: false,
    header: () => undefined,
    note: () => undefined,
  },
};
