import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { type AppContext, header, incomingOf } from './context.ts';

/** A client that sends nothing of a streamed body for this long is cut off, in milliseconds. */
const STALL_MS = 30_000;

/**
 * The request's JSON, gated as raw bytes, and those bytes, which a message signature covers. At most `limit` bytes of it are ever held, whatever Content-Length
 * says and however the body is framed.
 *
 * @throws unsupported_media_type for a content type that is not JSON, or an encoded body
 * @throws body_too_large past `limit` bytes
 * @throws json_* when the bytes are not I-JSON
 */
export async function readJson(c: AppContext, limit: number): Promise<{ raw: Uint8Array; json: JsonValue }> {
  requireJson(c);
  if (Number(header(c, 'content-length') ?? 0) > limit) throw tooLarge(limit);
  const incoming = incomingOf(c);
  const raw = incoming === undefined ? await readWeb(c.req.raw.body, limit) : await readNode(incoming, limit);
  return { raw, json: parseJson(raw) };
}

/** Whether the request's body is of this media type (lower case), whatever its parameters. */
export function hasMediaType(c: AppContext, mediaType: string): boolean {
  return header(c, 'content-type')?.split(';')[0]?.trim().toLowerCase() === mediaType;
}

/**
 * The request's body in chunks as they come, however long it is. Between two chunks other requests have their turn.
 *
 * @throws unsupported_media_type for an encoded body
 * @throws json_syntax when the connection closes before the body ends
 */
export async function* bodyChunks(c: AppContext): AsyncGenerator<Uint8Array, void, undefined> {
  requireIdentity(c);
  const incoming = incomingOf(c);
  for await (const chunk of incoming === undefined ? (c.req.raw.body ?? []) : nodeChunks(incoming)) {
    yield chunk;
    await setImmediate();
  }
}

async function* nodeChunks(incoming: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  const cut = (): void => void incoming.destroy();
  incoming.setTimeout(STALL_MS, cut);
  try {
    // Without destroying it at an early end: the socket is still needed for the answer.
    yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw cutShort(cause);
  } finally {
    incoming.setTimeout(0).off('timeout', cut);
  }
}

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json[ \t]*(?:;|$)/i;

function requireJson(c: AppContext): void {
  const type = header(c, 'content-type');
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    throw new TallyError(
      'unsupported_media_type',
      'Send the body as JSON with Content-Type: application/json.',
    );
  }
  requireIdentity(c);
}

function requireIdentity(c: AppContext): void {
  const encoding = header(c, 'content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    throw new TallyError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
}

function tooLarge(limit: number): TallyError {
  return new TallyError('body_too_large', `The body may hold at most ${limit} bytes.`);
}

/** Reads Node's own stream: 1.4 us a request cheaper than `arrayBuffer()`, which copies. */
function readNode(incoming: IncomingMessage, limit: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const onData = (chunk: Uint8Array): void => {
    length += chunk.byteLength;
    chunks.push(chunk);
    if (length > limit) refuse(tooLarge(limit));
  };
  const refuse = (error: Error): void => {
    // The adapter discards, boundedly, what is still to come once the answer is out.
    incoming.off('data', onData).pause();
    chunks.length = 0;
    reject(error);
  };
  incoming.on('data', onData);
  incoming.on('end', () => resolve(joined(chunks, length)));
  incoming.on('error', refuse);
  // An error costs a stack trace, and every request closes.
  incoming.on('close', () => incoming.readableEnded || reject(cutShort()));
  if (incoming.destroyed) refuse(cutShort());
  return promise;
}

async function readWeb(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length);
}

function cutShort(cause?: unknown): TallyError {
  return new TallyError('json_syntax', 'The connection closed before the body ended.', { cause });
}
