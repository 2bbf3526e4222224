import { type JsonObject, TallyError } from '@tallystick/core';
import type { ChatBody, Usage } from '../types.ts';

/** The APIs that callers may speak, each a pair of functions from and to the inner form, which is chat's. */
type ProtocolName = 'chat' | 'completions' | 'responses' | 'messages';

/** One event of a stream, for the caller. */
export interface SseEvent {
  /** Null where no `event:` line names it. */
  readonly event: string | null;
  readonly data: JsonObject;
  /** The exact JSON text of `data`, if it is to be kept. */
  readonly text?: string;
}

/** What a translated answer may say beside the inner answer. */
export interface Given {
  /** The body as the caller sent it. */
  readonly request: JsonObject;
  /** Id of the receipt. */
  readonly id: string;
  /** Catalogue id of the model that answers. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
}

/** Writes the stream of one call. */
export interface StreamEncoder {
  /** The events for a `chat.completion.chunk`. @param text its exact JSON text */
  take(chunk: JsonObject, text: string): readonly SseEvent[];
  /** The last events of a complete answer. @param usage as it is billed */
  end(usage: Usage): readonly SseEvent[];
  /**
   * The last events of an answer that broke off, in the protocol's own form of an error. It may also follow `end`, whose
   * last event was not sent then.
   */
  fail(error: TallyError): readonly SseEvent[];
  /**
   * Only of a protocol whose `svc` has a chunk of its own, which the response hash does not cover, before `[DONE]`: that
   * chunk. Without this method the last event of `end` and of `fail` carries `svc`.
   */
  svcChunk?(): JsonObject;
  /** Told of each event that passes as the provider sent it, so that `fail` can follow it. */
  passed?(event: JsonObject): void;
}

/** An API that callers may speak. */
export interface Protocol {
  readonly name: ProtocolName;
  /**
   * The request in inner form: total on what the route's schema accepts.
   * @throws TallyError invalid_request with the member that cannot be expressed
   */
  innerOf(body: JsonObject): ChatBody;
  /**
   * An answer in one piece, from a `chat.completion` that has `usage`. Null if the inner answer is passed on as it is.
   */
  readonly answerOf: ((inner: JsonObject, given: Given) => JsonObject) | null;
  stream(given: Given): StreamEncoder;
}

/** The refusal of a member that this service cannot serve in a protocol. */
export function unsupportedMember(field: string, why: string): TallyError {
  return new TallyError('invalid_request', `${field}: ${why}`, { field });
}
