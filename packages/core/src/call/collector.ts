import { ByteBuffer } from '../encoding/byte-buffer.ts';
import { equalBytes, utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { newSha256, sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { isObject } from '../receipts/shape.ts';
import { type CallProtocol, protocolOf } from './protocol.ts';
import { SseReader } from './sse-reader.ts';

/** The most bytes that an answer in one piece, or one event of a stream, may have: 64 MiB. */
const MAX_HELD_BYTES = 64 * 1_048_576;

const LINE_FEED = 0x0a;
const NEW_LINE = Uint8Array.of(LINE_FEED);
const DONE = utf8('[DONE]');

/** An answer of an inference call, as far as its receipt is concerned (spec/compute.md, *Response hash*). */
export interface CollectedAnswer {
  /** `sha256:<hex>` over what a receipt covers; null if the answer has a fault. */
  readonly hash: string | null;
  /** Sentence that says why this is no answer of a call; null if it is one. */
  readonly fault: string | null;
  /** The member `svc`; null for a stream without its end, and where it is not an object. */
  readonly svc: JsonObject | null;
  /** The answer's own id, as its client sees it: of a stream, that in its first event; null if it has none. */
  readonly answerId: string | null;
  readonly protocol: CallProtocol | null;
}

/**
 * Collects an answer as its bytes pass, and hashes what its receipt covers. The bytes decide whether it is a JSON body or a
 * stream of server-sent events. Of a stream it holds one event in memory, of a body everything.
 */
export class CallCollector {
  readonly #body = new ByteBuffer();
  readonly #reader = new SseReader((payload, name) => this.#event(payload, name), MAX_HELD_BYTES);
  readonly #hash = newSha256();
  #form: 'body' | 'stream' | null = null;
  #startsBlank = false;
  /** The last payload of the stream, and `[DONE]` if that followed it: what they count for depends on what comes next. */
  #held: Uint8Array[] = [];
  #protocol: CallProtocol | null = null;
  #answerId: string | null = null;
  #hasNamed = false;
  #hasUnnamed = false;
  #fault: string | null = null;
  #isTooLarge = false;
  #collected: CollectedAnswer | null = null;

  /** Takes the next bytes, and does not keep them. Never throws for what the bytes say: `end` reports it. */
  push(bytes: Uint8Array): void {
    if (this.#isTooLarge) return;
    try {
      this.#take(bytes);
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      this.#isTooLarge = true;
      this.#fault = error.message;
    }
  }

  /** Ends the answer. Bytes pushed after it do not count. */
  end(): CollectedAnswer {
    this.#collected ??=
      this.#form === 'body' && !this.#isTooLarge ? collectBody(this.#body.take()) : this.#endStream();
    return this.#collected;
  }

  #take(bytes: Uint8Array): void {
    this.#form ??= this.#formOf(bytes);
    if (this.#form === 'stream') this.#reader.push(bytes);
    if (this.#form !== 'body') return;
    if (this.#body.length + bytes.length > MAX_HELD_BYTES)
      throw new TallyError('body_too_large', `An answer may have at most ${MAX_HELD_BYTES} bytes.`);
    this.#body.append(bytes);
  }

  /** The form that the first byte after line breaks tells; null if there is none yet. */
  #formOf(bytes: Uint8Array): 'body' | 'stream' | null {
    const first = bytes.find((byte) => byte !== 0x0a && byte !== 0x0d);
    if (first === undefined) {
      this.#startsBlank ||= bytes.length > 0;
      return null;
    }
    // An object, or the white space that only JSON allows in front of it.
    if (first === 0x7b || first === 0x20 || first === 0x09) return 'body';
    // A byte order mark counts at the very start only.
    if (this.#startsBlank) this.#reader.push(NEW_LINE);
    return 'stream';
  }

  #event(payload: Uint8Array, name: string | null): void {
    const isDone = name === null && equalBytes(payload, DONE);
    if (isDone && this.#held.length === 1) {
      this.#held.push(DONE);
      return;
    }
    for (const held of this.#held) this.#cover(held);
    this.#held = [payload.slice()];
    if (isDone) return;
    this.#hasNamed ||= name !== null;
    this.#hasUnnamed ||= name === null;
    // Two events without the blank line between them have the same hash, and are no JSON.
    const isOfLines = payload.includes(LINE_FEED);
    const isRead = name !== null || this.#protocol === null || isOfLines;
    const json = isRead ? orNull(() => parseJson(payload)) : null;
    if (isOfLines && json === null) this.#fault ??= 'A payload of several data lines is not I-JSON.';
    this.#protocol ??= protocolOf(json);
    this.#answerId ??= answerIdOf(json);
    if (name !== null && typeOf(json) !== name)
      this.#fault ??= `An event is named ${name}, but the type in its payload is ${typeOf(json) ?? 'missing'}.`;
  }

  #cover(payload: Uint8Array): void {
    this.#hash.update(payload).update(NEW_LINE);
  }

  #endStream(): CollectedAnswer {
    const last = this.#held.find((payload) => !equalBytes(payload, DONE));
    const json = last === undefined ? null : orNull(() => parseJson(last));
    const end = isObject(json) && isEnd(json) ? json : null;
    const protocol = this.#protocol ?? protocolOf(json);
    const told = { svc: svcOf(end), answerId: this.#answerId ?? answerIdOf(json), protocol };
    const fault = this.#fault ?? this.#faultAtEnd(last, typeOf(end));
    if (last === undefined || fault !== null) return { hash: null, fault, ...told };
    if (end === null) this.#cover(last);
    else if (isHashed(end)) this.#cover(canonicalBytes(withoutSvc(end)));
    return { hash: `sha256:${this.#hash.hex()}`, fault: null, ...told };
  }

  #faultAtEnd(last: Uint8Array | undefined, type: string | null): string | null {
    if (last === undefined) return 'This is neither a JSON object nor a stream of server-sent events.';
    if (this.#hasNamed && this.#hasUnnamed) return 'Some events of the stream are named, and others are not.';
    return type !== null && this.#hasUnnamed
      ? `The events have no names, but the last one has the type ${type}.`
      : null;
  }
}

/** Collects an answer in one piece from its bytes. */
function collectBody(bytes: Uint8Array): CollectedAnswer {
  try {
    return collectDocument(parseJson(bytes));
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return unread(error.message);
  }
}

/** Collects an answer in one piece from its parsed body. */
export function collectDocument(body: JsonValue): CollectedAnswer {
  if (!isObject(body)) return unread('It is not a JSON object.');
  const hash = `sha256:${sha256Hex(canonicalBytes(withoutSvc(body)))}`;
  return { hash, fault: null, svc: svcOf(body), answerId: answerIdOf(body), protocol: protocolOf(body) };
}

function unread(fault: string): CollectedAnswer {
  return { hash: null, fault, svc: null, answerId: null, protocol: null };
}

/** The id of a body or of a chunk of chat, or of the object within the first event of Responses or Messages. */
function answerIdOf(document: JsonValue): string | null {
  if (!isObject(document)) return null;
  const answer = [document['response'], document['message'], document].find(isObject);
  const id = answer?.['id'];
  return typeof id === 'string' ? id : null;
}

/** What may stand beside svc in a chunk of its own, which is not hashed. */
const CHUNK_HEAD = new Set(['id', 'object', 'created', 'model', 'choices', 'svc']);

/** Whether a stream's last payload ends it: it carries svc and either is hashed or tells a client nothing. */
function isEnd(payload: JsonObject): boolean {
  if (!Object.hasOwn(payload, 'svc')) return false;
  if (isHashed(payload)) return true;
  const { choices } = payload;
  return (
    Object.keys(payload).every((name) => CHUNK_HEAD.has(name)) &&
    (choices === undefined || (Array.isArray(choices) && choices.length === 0))
  );
}

/** Whether the hash covers the last payload of a stream: it has contents beside `svc`. */
function isHashed(payload: JsonObject): boolean {
  return typeOf(payload) !== null || Object.hasOwn(payload, 'usage');
}

function withoutSvc({ svc: _svc, ...covered }: JsonObject): JsonObject {
  return covered;
}

function svcOf(document: JsonObject | null): JsonObject | null {
  const svc = document?.['svc'];
  return isObject(svc) ? svc : null;
}

function typeOf(document: JsonValue): string | null {
  const type = isObject(document) ? document['type'] : null;
  return typeof type === 'string' ? type : null;
}
