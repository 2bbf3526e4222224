import { type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { elementsOf, type MemberSpan, membersOf, type Span } from './json-spans.ts';

/** Members by which a message, or a call in it, is judged. */
const JUDGED = new Set(['jsonrpc', 'id', 'method', 'params', 'name', 'arguments']);

/** One message of JSON-RPC 2.0 as it stands in the bytes that came, which are valid JSON. */
export class Message {
  readonly bytes: Buffer;
  readonly #text: string;
  readonly #members: readonly MemberSpan[];

  private constructor(bytes: Buffer, text: string, members: readonly MemberSpan[]) {
    this.bytes = bytes;
    this.#text = text;
    this.#members = members;
  }

  /** @param bytes valid JSON; null where it is no object */
  static read(bytes: Buffer): Message | null {
    const text = bytes.toString('latin1');
    const members = membersOf(text);
    return members && new Message(bytes, text, members);
  }

  get method(): string | null {
    const method = this.value('method');
    return typeof method === 'string' ? method : null;
  }

  /** The id as JSON text, by which an answer is matched; null if there is none. */
  get id(): string | null {
    const id = this.value('id');
    return typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : null;
  }

  has(...path: readonly string[]): boolean {
    return this.span(...path) !== null;
  }

  /** The value at a path of member names; undefined if there is none. */
  value(...path: readonly string[]): JsonValue | undefined {
    const span = this.span(...path);
    return span === null ? undefined : (JSON.parse(this.#slice(span).toString()) as JsonValue);
  }

  /** The value at a path as a session hashes it: as JSON, or, if it is no I-JSON, its bytes. Undefined if there is none. */
  hashed(...path: readonly string[]): JsonValue | Uint8Array | undefined {
    const span = this.span(...path);
    return span === null ? undefined : jsonOrBytes(this.#slice(span));
  }

  /** Where the value at a path is; of a name that comes twice the last, as in most parsers. */
  span(...path: readonly string[]): Span | null {
    let found: Span | null = null;
    let members: readonly MemberSpan[] | null = this.#members;
    for (const name of path) {
      found = members?.findLast((member) => member.name === name) ?? null;
      if (found === null) return null;
      members = membersOf(this.#text, found.start);
    }
    return found;
  }

  /**
   * Whether another parser might read another message: a member that is judged comes twice, or is written so that a parser
   * that ignores case takes it.
   */
  get isAmbiguous(): boolean {
    if (isAmbiguous(this.#members)) return true;
    const params = this.method === 'tools/call' ? this.span('params') : null;
    return params !== null && isAmbiguous(membersOf(this.#text, params.start) ?? []);
  }

  /** The message with a text put in place of a span. */
  replace({ start, end }: Span, text: string): Buffer {
    return Buffer.concat([this.bytes.subarray(0, start), Buffer.from(text), this.bytes.subarray(end)]);
  }

  /** Whether the value at a path is an object, and has members. */
  objectAt(...path: readonly string[]): { readonly span: Span; readonly isEmpty: boolean } | null {
    const span = this.span(...path);
    const members = span && membersOf(this.#text, span.start);
    return span && members && { span, isEmpty: members.length === 0 };
  }

  #slice({ start, end }: Span): Buffer {
    return this.bytes.subarray(start, end);
  }
}

function isAmbiguous(members: readonly MemberSpan[]): boolean {
  const seen = new Set<string>();
  for (const { name } of members) {
    const folded = name.toUpperCase().toLowerCase();
    if (!JUDGED.has(folded)) continue;
    if (name !== folded || seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

function jsonOrBytes(bytes: Buffer): JsonValue | Uint8Array {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof TallyError) return Uint8Array.from(bytes);
    throw error;
  }
}

/** Whether bytes are JSON. What is no UTF-8 counts as what a lenient reader makes of it. */
export function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

/** A request, as opposed to a notification or an answer. */
export interface RequestFacts {
  /** JSON text. */
  readonly id: string;
  readonly method: string;
}

/** The requests in a message or batch. @param bytes valid JSON */
export function requestsIn(bytes: Buffer): readonly RequestFacts[] {
  return messagesIn(bytes).flatMap(({ id, method }) =>
    id === null || method === null ? [] : { id, method },
  );
}

/** The messages of a batch, or the one message. @param bytes valid JSON */
export function messagesIn(bytes: Buffer): readonly Message[] {
  const elements = elementsOf(bytes.toString('latin1'));
  const parts = elements === null ? [bytes] : elements.map(({ start, end }) => bytes.subarray(start, end));
  return parts.flatMap((part) => Message.read(part) ?? []);
}
