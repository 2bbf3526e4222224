import { canonicalize, type JsonObject, utf8 } from '@tallystick/core';
import type { Upload, UploadAttempt } from './transport.ts';

/** Approximate number of characters per piece that is sent. */
const PIECE = 65_536;

type Piece = Uint8Array<ArrayBuffer>;

/** Lines to send: an iterable, or a function that returns a fresh one for each attempt. */
export type Lines<T> = Iterable<T> | AsyncIterable<T> | (() => Iterable<T> | AsyncIterable<T>);

/**
 * A body of `application/x-ndjson`: `head`, then one line for each of `lines`. It is streamed in bounded memory,
 * except in browsers, which can't stream a request, or only over HTTP/2: there it is collected first.
 */
export function ndjsonUpload(head: JsonObject, lines: Lines<JsonObject>): Upload {
  return piecesUpload({
    repeatable: typeof lines === 'function' || Array.isArray(lines),
    pieces: () => encoded(head, typeof lines === 'function' ? lines() : lines),
  });
}

/** A body of `application/x-ndjson` in pieces of whole lines. `pieces` returns them anew for each attempt. */
export function piecesUpload({
  pieces,
  repeatable,
}: {
  readonly pieces: () => Iterable<Piece> | AsyncIterable<Piece>;
  readonly repeatable: boolean;
}): Upload {
  return {
    contentType: 'application/x-ndjson',
    repeatable,
    async open(attempt) {
      const results = heeding(attempt, pieces());
      return isBrowser() ? collected(results) : streamOf(results);
    },
  };
}

const isBrowser = (): boolean => 'document' in globalThis || 'WorkerGlobalScope' in globalThis;

async function* encoded(
  head: JsonObject,
  lines: Iterable<JsonObject> | AsyncIterable<JsonObject>,
): AsyncGenerator<Piece, void> {
  let text = `${canonicalize(head)}\n`;
  for await (const line of lines) {
    text += `${canonicalize(line)}\n`;
    if (text.length >= PIECE) {
      yield new Uint8Array(utf8(text));
      text = '';
    }
  }
  yield new Uint8Array(utf8(text));
}

/**
 * Yields the pieces until the attempt is over: an aborted `fetch` may read its body to the end, and
 * evidence may be endless. Failures are reported, since `fetch` rejects with an error of its own when its body fails.
 */
async function* heeding<T>(
  { signal, answered, onPiece, onFailure }: UploadAttempt,
  pieces: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<T, void> {
  try {
    for await (const piece of pieces) {
      if (signal.aborted || answered.aborted) return;
      onPiece();
      yield piece;
    }
  } catch (error) {
    onFailure(error);
    throw error;
  }
}

async function collected(pieces: AsyncIterable<Piece>): Promise<Blob> {
  const parts: BlobPart[] = [];
  for await (const piece of pieces) parts.push(piece);
  return new Blob(parts);
}

/** `ReadableStream.from`, for runtimes and types that lack it. */
function streamOf(pieces: AsyncGenerator<Piece, void>): ReadableStream<Piece> {
  return new ReadableStream({
    async pull(controller) {
      // Without this pause Node's `fetch` would write on, and would not see an early answer before the connection is closed.
      await turn();
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return();
    },
  });
}

/** Waits for the next turn of the event loop: a millisecond if the runtime has only `setTimeout`. */
function turn(): Promise<void> {
  const { setImmediate: soon = (work) => void setTimeout(work, 0) } = globalThis as {
    setImmediate?: (work: () => void) => unknown;
  };
  return new Promise((resolve) => {
    soon(resolve);
  });
}
