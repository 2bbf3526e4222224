import type { EventStreamCodec } from '@smithy/eventstream-codec';
import type { JsonObject } from '@tallystick/core';
import { maxEventLength, parseObject } from './answers.ts';
import { badAnswer } from './failures.ts';
import type { Reply } from './reply.ts';

/** A message of an AWS event stream whose payload is JSON. */
interface EventMessage {
  /** Of an event or of an exception; empty if the message does not say it. */
  readonly type: string;
  readonly isException: boolean;
  readonly json: JsonObject;
}

/** Loads the codec, which only a service that calls Bedrock needs. */
async function loadCodec(): Promise<EventStreamCodec> {
  const { EventStreamCodec } = await import('@smithy/eventstream-codec');
  return new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString(),
    (text) => Buffer.from(text),
  );
}

/** Bytes of the shortest message: two lengths and two checksums. */
const minLength = 16;

/**
 * Yields the messages of a body of the type `application/vnd.amazon.eventstream` as they arrive, their checksums verified.
 * @throws ProviderError bad_answer for other bytes
 */
export async function* readEventMessages(provider: string, reply: Reply): AsyncGenerator<EventMessage> {
  const codec = await loadCodec();
  let pieces: Uint8Array[] = [];
  let size = 0;
  let needed = 4;
  for await (const bytes of reply.bytes) {
    pieces.push(bytes);
    size += bytes.length;
    if (size < needed) continue;
    let rest = Buffer.concat(pieces);
    for (needed = lengthOf(provider, rest); rest.length >= needed; needed = lengthOf(provider, rest)) {
      yield messageOf(provider, codec, rest.subarray(0, needed));
      rest = rest.subarray(needed);
    }
    pieces = [rest];
    size = rest.length;
  }
}

/** Bytes until the next message is complete, or until its length is known. */
function lengthOf(provider: string, bytes: Buffer): number {
  if (bytes.length < 4) return 4;
  const length = bytes.readUInt32BE(0);
  if (length < minLength || length > maxEventLength) throw badAnswer(provider);
  return length;
}

function messageOf(provider: string, codec: EventStreamCodec, bytes: Uint8Array): EventMessage {
  const { headers, body } = decoded(provider, codec, bytes);
  const text = (name: string): string => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : '';
  };
  const isException = text(':message-type') !== 'event';
  const type = isException ? text(':exception-type') || text(':error-code') : text(':event-type');
  return { type, isException, json: body.length === 0 ? {} : parseObject(provider, body) };
}

function decoded(
  provider: string,
  codec: EventStreamCodec,
  bytes: Uint8Array,
): ReturnType<EventStreamCodec['decode']> {
  try {
    return codec.decode(bytes);
  } catch {
    throw badAnswer(provider);
  }
}
