import type { JsonObject } from '@tallystick/core';
import { chunkOf, parseEvent, type ReadError, readEvents, readObject, startStream } from './answers.ts';
import { completionOf } from './anthropic-answer.ts';
import { blamedFor, errorIn, errorOf } from './anthropic-error.ts';
import { messagesRequest } from './anthropic-request.ts';
import { MessageStream } from './anthropic-stream.ts';
import { badAnswer, cut } from './failures.ts';
import { nativeAnswer } from './native.ts';
import type { Provider, StreamChunk } from './provider.ts';
import { type Reply } from './reply.ts';
import { openUpstream, type UpstreamOptions } from './upstream.ts';

/** The version of the Messages API that is read here. */
const apiVersion = '2023-06-01';

/** Anthropic's Messages API. Its base URL is without `/v1`, as its own SDK takes it. */
export function anthropicProvider(options: UpstreamOptions): Provider {
  const { name } = options;
  const { post, failure, limitedMs, close } = openUpstream(options, {
    headers: { 'anthropic-version': apiVersion },
    keyHeader: 'x-api-key',
    readError: errorOf,
  });

  async function* chunks(reply: Reply, created: number): AsyncGenerator<StreamChunk> {
    const stream = new MessageStream(name, created);
    let begun = false;
    try {
      for await (const { data } of readEvents(name, reply)) {
        const event = parseEvent(name, data);
        const error = errorIn(event);
        if (error !== null) throw failure(error);
        for (const chunk of stream.take(event)) yield chunkOf(chunk, stream.unseen);
        begun = true;
        if (stream.ended) return;
      }
      throw begun ? cut(name) : badAnswer(name);
    } finally {
      reply.close(stream.ended);
    }
  }

  return {
    name,
    // System and developer messages are sent separately and are not turns.
    templateTokens: ({ messages, instructions }) => 4 * (messages - instructions) + 3,
    speaks: new Set(['messages']),
    limitedMs,
    async chat({ body, native, ...call }) {
      if (native !== undefined) {
        const streamed = body['stream'] === true;
        const { text, headers } = native;
        const blamed = (error: JsonObject | null): JsonObject | null => blamedFor(text, error);
        const readError: ReadError = (error) => blamed(errorOf(error));
        const reply = await post('/v1/messages', text, { ...call, streamed, headers, readError });
        const failed = (error: JsonObject): Error => failure(blamed(error) ?? error);
        return nativeAnswer({ name, failure: failed }, native, reply, streamed);
      }
      const reply = await post('/v1/messages', messagesRequest(call.model, body), call);
      const created = Math.floor(Date.now() / 1_000);
      if (body['stream'] === true)
        return { kind: 'stream', chunks: await startStream(name, chunks(reply, created)) };
      const message = await readObject(name, reply);
      if (message['type'] !== 'message' || !Array.isArray(message['content'])) throw badAnswer(name);
      return { kind: 'complete', ...completionOf(message, created) };
    },
    close,
  };
}
