import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';

/** An answer with all its headers, in lower case. It goes through Hono in the place of a `Response`, as `asked.ts` says why. */
export class Finished {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Answer['body'];

  constructor(status: number, headers: Readonly<Record<string, string>>, body: Answer['body']) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** What an app answers with. Hono makes a `Response` of the answer to HEAD. */
export type Answered = Finished | Response;

export function finishedOf(answered: Answered): Finished {
  if (answered instanceof Finished) return answered;
  return new Finished(answered.status, Object.fromEntries(answered.headers), answered.body);
}

/** Writes an answer. Resolves once all is handed to Node, or the client has left; a body that fails breaks the connection off. */
export async function write({ status, headers, body }: Finished, outgoing: ServerResponse): Promise<void> {
  if (body === null) return void outgoing.writeHead(status, headers).end();
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const length = { 'content-length': Buffer.byteLength(body) };
    return void outgoing.writeHead(status, { ...length, ...headers }).end(body);
  }
  outgoing.writeHead(status, headers).flushHeaders();
  await pump(body, outgoing);
}

async function pump(body: ReadableStream, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array | string>;
  const cancel = (): void => void reader.cancel().catch(() => {});
  if (outgoing.destroyed) return cancel();
  outgoing.once('close', cancel);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      if (!outgoing.write(read.value)) await drained(outgoing);
    outgoing.end();
  } catch (error) {
    outgoing.destroy(error as Error);
  } finally {
    outgoing.off('close', cancel);
  }
}

/** Resolves once more can be written, or the connection is closed. */
function drained(outgoing: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const go = (): void => {
    outgoing.off('drain', go).off('close', go);
    resolve();
  };
  outgoing.once('drain', go).once('close', go);
  if (outgoing.destroyed) go();
  return promise;
}
