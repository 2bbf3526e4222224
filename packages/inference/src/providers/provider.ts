import type { JsonObject } from '@tallystick/core';
import type { NativeForm, SpokenProtocol, SseEvent } from '../protocols/protocol.ts';
import type { ChatBody, Reported } from '../types.ts';

/** A call that continues until its signal aborts: then the connection to the provider is closed at once. */
export interface ChatCall {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly body: ChatBody;
  readonly signal: AbortSignal;
  /** Headers by which the provider continues the caller's trace; sent beside the provider's own. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /**
   * Only of a body that was translated from another protocol than chat: such a body may say more than chat does. `reasons`:
   * whether the model reasons.
   */
  readonly translated?: { readonly reasons: boolean } | undefined;
  /** The same call in a protocol that the provider speaks, which is sent instead of `body`. */
  readonly native?: NativeCall | undefined;
}

/** A call as its caller wrote it. */
export interface NativeCall {
  readonly form: NativeForm;
  /** JSON. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One `data:` payload, an OpenAI `chat.completion.chunk`: its exact JSON text, and as parsed. */
export interface StreamChunk {
  readonly text: string;
  readonly json: JsonObject;
  /** The model produced output that no chunk shows, and that `usage` does not count separately. */
  readonly unseen?: true;
  /** Only of a native call: the events that the caller gets instead, none of them in two chunks. */
  readonly native?: readonly SseEvent[];
  /** Only of a native call: whether its last event is the last one of the answer. */
  readonly last?: true;
}

export type ChatAnswer =
  /** An OpenAI `chat.completion`; of a native call also the answer in the caller's protocol. */
  | {
      readonly kind: 'complete';
      readonly body: JsonObject;
      readonly usage: Reported;
      readonly native?: JsonObject;
    }
  /** Ends only after a complete answer. It can be iterated once; leaving the iteration early closes the connection. */
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<StreamChunk> };

export interface EmbedCall {
  readonly model: string;
  /** An OpenAI embeddings request. */
  readonly body: JsonObject;
  readonly signal: AbortSignal;
  /** As of `ChatCall`. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
}

export interface EmbedAnswer {
  /** An OpenAI embeddings response. */
  readonly body: JsonObject;
  readonly usage: Reported;
}

/** Number of messages in a prompt, and how many of them are instructions (`system`, `developer`). */
export interface PromptShape {
  readonly messages: number;
  readonly instructions: number;
}

/**
 * Answers inference calls in OpenAI's format, whatever the provider's own is. It never retries, except with another API
 * key if one is not admitted. Streams always request their usage, which comes in a chunk of its own (see `isUsageChunk`).
 */
export interface Provider {
  readonly name: string;
  /** The protocols in which it takes a call as its caller wrote it. */
  readonly speaks: ReadonlySet<SpokenProtocol>;
  /** Tokens that its chat template usually adds to the texts of a prompt. */
  templateTokens(shape: PromptShape): number;
  /**
   * Answers a chat call. A stream resolves once its first chunk has arrived: earlier failures reject the call, later
   * ones the iteration.
   * @throws ProviderError
   */
  chat(call: ChatCall): Promise<ChatAnswer>;
  /** Answers an embeddings call. @throws ProviderError */
  embed?(call: EmbedCall): Promise<EmbedAnswer>;
  /** Milliseconds until the provider admits calls of the model again, by what it last said; 0 if it admits them. */
  limitedMs?(model: string): number;
  close(): Promise<void>;
}

/**
 * Why a call failed:
 * - `gone`: the provider has no such model (404, 410)
 * - `refused`: the request is at fault (4xx), here or there
 * - `auth`: the operator's credentials or account don't serve (401, 402, 403)
 * - `rate_limited` (429), `overloaded` (409, 503, 529), `server` (424, other 5xx)
 * - `timeout`: no byte in time, first or next, or the provider's own 408 or 504
 * - `unreachable`: no connection, or it broke before the answer began
 * - `cut`: it broke after that
 * - `bad_answer`: not of the provider's wire format
 * - `too_long`: a stream of more bytes than the tokens that were asked for can take
 * - `aborted`: the call's signal did it
 */
export type ProviderErrorKind =
  | 'gone'
  | 'refused'
  | 'rate_limited'
  | 'overloaded'
  | 'server'
  | 'timeout'
  | 'unreachable'
  | 'bad_answer'
  | 'cut'
  | 'too_long'
  | 'aborted'
  | 'auth';

interface ErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly error?: JsonObject | undefined;
}

/** Its message contains no host, no credentials and nothing of the request or the answer. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** The provider's HTTP status; null if it did not answer. */
  readonly status: number | null;
  /** What the provider asked for in `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** Only with `refused`: what is wrong with the request, in OpenAI's form `{message, type, param, code}`; safe to pass on. */
  readonly error: JsonObject | null;

  constructor(kind: ProviderErrorKind, message: string, details: ErrorDetails = {}) {
    super(message);
    this.kind = kind;
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.error = details.error ?? null;
  }
}

/** A request that the provider's own API cannot express, refused before it is sent. */
export function unsupported(provider: string, param: string, message: string): ProviderError {
  const error = { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' };
  return new ProviderError('refused', `${provider} can't take ${param}`, { status: 400, error });
}
