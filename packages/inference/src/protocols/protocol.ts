import { type JsonObject, TallyError } from '@tallystick/core';
import { factsOf, Refusal } from '@tallystick/kit';
import type { ChatBody, Reported, Usage } from '../types.ts';
import type { JsonPath } from './splice.ts';

/** The APIs that callers may speak, each a pair of functions from and to the inner form, which is chat's. */
type ProtocolName = 'chat' | 'completions' | SpokenProtocol;

/** Those in which a provider may take a call as its caller wrote it. */
export type SpokenProtocol = 'responses' | 'messages';

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
  /** Random text in the ids of items that are kept, so that nobody else can name them. */
  readonly secret?: string | undefined;
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
   * Only of a protocol whose `svc` comes before `[DONE]`: the chunk that carries it where `end` has no event, or after `fail`. The
   * response hash does not cover it. Without this method the last event of `end` and of `fail` carries `svc`.
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
  /** The names that inner members have in this protocol, where they differ, for errors. */
  readonly members?: Readonly<Record<string, string>>;
  /** How clients refer to items of earlier answers; absent where none does. */
  readonly items?: ItemReferences;
  /** How a call passes to a provider that speaks this protocol; null if none does, or the inner form is its own. */
  readonly native: NativeForm | null;
}

/** References of clients to items of earlier answers, which they do not send again. */
export interface ItemReferences {
  /** Whether the client will refer to the items of its answer. @param header of the request, by its name in lower case */
  expected(body: JsonObject, header: (name: string) => string | undefined): boolean;
  /** The ids that a request refers to. */
  idsIn(body: JsonObject): readonly string[];
  /** The request with the items in place of their references; a reference without its item stays. */
  resolved(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject;
  /** The items of an answer in one piece, or of the last event of a stream. */
  of(answer: JsonObject): readonly JsonObject[];
  /** Members of the request to a provider that speaks this protocol and reasons, so that its items can come back. */
  ask(body: JsonObject): JsonObject;
}

/** Where a text of an inner message stands in the body that the caller sent. */
export interface TextPlace {
  /** Index among the inner messages. */
  readonly message: number;
  /** Index among the parts of its content; null where the content is one text. */
  readonly part: number | null;
  readonly path: JsonPath;
}

/** Reads a provider's stream in its own protocol. */
export interface InnerStream {
  /** The `chat.completion.chunk`s for an event, the usage chunk last. @throws ProviderError for one that is out of place */
  take(event: JsonObject): readonly JsonObject[];
  /** Whether the last event has come. */
  readonly ended: boolean;
  /** Whether the model produced output that no chunk shows, and that `usage` does not count separately. */
  readonly unseen: boolean;
}

/**
 * A protocol that providers speak too. What the caller sent then reaches the provider byte for byte, except for what the
 * service changes, and so does the answer the caller; both are read in inner form for routing and billing.
 */
export interface NativeForm {
  readonly protocol: SpokenProtocol;
  /** Places of the model's name in an answer and in the events of a stream. */
  readonly modelPaths: readonly JsonPath[];
  /** The request's member for the most output tokens. */
  readonly limit: string;
  /** Members that every request to a provider has with these values. */
  readonly set?: JsonObject;
  /** Headers of the caller that are passed on, in lower case. */
  readonly headers?: readonly string[];
  /** Whether a provider can read the body as it is. */
  fits?(body: JsonObject): boolean;
  textPlaces(body: JsonObject): readonly TextPlace[];
  /** Members that no other protocol can carry: only a provider that speaks this one can serve the request. */
  nativeOnly(body: JsonObject): readonly string[];
  /** A provider's answer in inner form. @throws ProviderError bad_answer */
  innerAnswer(provider: string, body: JsonObject, created: number): { body: JsonObject; usage: Reported };
  innerStream(provider: string, created: number): InnerStream;
  /** The error that an event tells, or a body that came with status 200: OpenAI's members, and `status` where it is known. */
  errorIn(json: JsonObject): JsonObject | null;
}

/** An error that names a member of the inner form, in the caller's terms. */
export function inTermsOf({ members = {} }: Protocol, error: unknown): unknown {
  const name = error instanceof TallyError ? members[error.field ?? ''] : undefined;
  if (!(error instanceof TallyError) || name === undefined) return error;
  const { code, message, field = '', cause } = error;
  const text = message.startsWith(`${field}: `) ? name + message.slice(field.length) : message;
  return new Refusal(code, text, { ...factsOf(error), field: name, cause });
}

/** The refusal of a member that this service cannot serve in a protocol. */
export function unsupportedMember(field: string, why: string): TallyError {
  return new TallyError('invalid_request', `${field}: ${why}`, { field });
}

/** The refusal of a member that refers to what an earlier call left behind. */
export function stateless(field: string, message: string): TallyError {
  return new TallyError('state_not_kept', message, { field });
}
