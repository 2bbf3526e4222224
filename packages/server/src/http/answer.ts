/** What a handler returns. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream | null;
  /** Content type of the body; null when there is no body. */
  readonly contentType: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a stream: resolves once all is known that the log tells of it. Never rejects. */
  readonly concluded?: Promise<void>;
}

interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with a JSON body. Signed text must not pass through here: use `text` for it. */
export function json(value: unknown, options: AnswerOptions = {}): Answer {
  return text(JSON.stringify(value), 'application/json', options);
}

/** An answer with a body that is already in its final form. */
export function text(body: string, contentType: string, options: AnswerOptions = {}): Answer {
  return { status: 200, body, contentType, ...options };
}
