/**
 * What a handler gives back. It becomes exactly one `Response` with a plain header record, the form that the
 * Node adapter writes without building a `Headers` object. Header names are in lower case.
 */
export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream | null;
  /** Of the body; null when there is none. */
  readonly contentType: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with a JSON body. What is signed is not made here: give its text to `text`. */
export function json(value: unknown, options: AnswerOptions = {}): Answer {
  return text(JSON.stringify(value), 'application/json', options);
}

/** An answer with a body that is already in its final form. */
export function text(body: string, contentType: string, options: AnswerOptions = {}): Answer {
  return { status: 200, body, contentType, ...options };
}
