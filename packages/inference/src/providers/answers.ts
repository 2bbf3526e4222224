import { type JsonObject, parseJson } from '@tallystick/core';
import { SseError, type SseEvent, SseParser } from '../sse.ts';
import { badAnswer, errorOf, failed, retryAfter } from './failures.ts';
import { maxBodyBytes } from './gather.ts';
import { asObject } from './members.ts';
import type { StreamChunk } from './provider.ts';
import type { Reply } from './reply.ts';

const maxErrorBytes = 65_536;
export const maxEventLength = 8 * 1_048_576;

/** Reads the body of an error in the form of a provider other than OpenAI. */
export type ReadError = (body: JsonObject | null) => JsonObject | null;

/**
 * Returns the reply if it is a success.
 * @param secrets removed from the provider's own message
 * @throws ProviderError for another status
 */
export async function requireSuccess(
  provider: string,
  reply: Reply,
  secrets: readonly string[],
  readError: ReadError = errorOf,
): Promise<Reply> {
  const { status, header } = reply;
  if (status === 200) return reply;
  // The status is enough, even if its explanation cannot be read.
  const body = await readObject(provider, reply, maxErrorBytes).catch(() => null);
  const retryAfterMs = retryAfter(header, Date.now());
  throw failed({ provider, status, retryAfterMs, error: readError(body), secrets });
}

/** Reads the whole body, a JSON object. Closes the reply. @throws ProviderError */
export async function readObject(
  provider: string,
  reply: Reply,
  maxBytes = maxBodyBytes,
): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let complete = false;
  try {
    for await (const chunk of reply.bytes) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) throw badAnswer(provider);
    }
    complete = true;
  } finally {
    reply.close(complete);
  }
  return parseObject(provider, chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
}

/** A complete answer becomes part of a receipt, so it must be JSON with a canonical form. */
export function parseObject(provider: string, bytes: Uint8Array): JsonObject {
  let value: JsonObject | null = null;
  try {
    value = asObject(parseJson(bytes));
  } catch {
    throw badAnswer(provider);
  }
  if (value === null) throw badAnswer(provider);
  return value;
}

export function parseEvent(provider: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    throw badAnswer(provider);
  }
  throw badAnswer(provider);
}

/** Yields the events of a reply's body as they arrive. @throws ProviderError */
export async function* readEvents(provider: string, reply: Reply): AsyncGenerator<SseEvent> {
  const parser = new SseParser(maxEventLength);
  for await (const bytes of reply.bytes) {
    try {
      yield* parser.push(bytes);
    } catch (error) {
      throw error instanceof SseError ? badAnswer(provider) : error;
    }
  }
}

/**
 * A stream whose first chunk has arrived; an empty stream is no answer. A failure before the first chunk rejects.
 * @throws ProviderError
 */
export async function startStream(
  provider: string,
  chunks: AsyncGenerator<StreamChunk>,
): Promise<AsyncIterable<StreamChunk>> {
  const first = await chunks.next();
  if (first.done === true) throw badAnswer(provider);
  return withFirst(first.value, chunks);
}

async function* withFirst(
  first: StreamChunk,
  rest: AsyncGenerator<StreamChunk>,
): AsyncGenerator<StreamChunk> {
  try {
    yield first;
    yield* rest;
  } finally {
    // If the reader stops at the first chunk, the rest has not been told.
    await rest.return(undefined);
  }
}

/** @param unseen see `StreamChunk` */
export function chunkOf(json: JsonObject, unseen = false): StreamChunk {
  return { text: JSON.stringify(json), json, ...(unseen && { unseen }) };
}
