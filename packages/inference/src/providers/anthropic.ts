import type { JsonObject } from '@tallystick/core';
import { chunkOf, parseEvent, readEvents, readObject, startStream } from './answers.ts';
import { completionOf } from './anthropic-answer.ts';
import { messagesRequest } from './anthropic-request.ts';
import { MessageStream } from './anthropic-stream.ts';
import { badAnswer, cut, failed, failedWithin } from './failures.ts';
import { asObject, asText } from './members.ts';
import { nativeAnswer } from './native.ts';
import type { Provider, StreamChunk } from './provider.ts';
import { type Reply } from './reply.ts';
import { openUpstream, type UpstreamOptions } from './upstream.ts';

/** The version of the Messages API that is read here. */
const apiVersion = '2023-06-01';

/** The HTTP status that an error event in a stream would have had. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Anthropic's Messages API. Its base URL is without `/v1`, as its own SDK takes it. */
export function anthropicProvider(options: UpstreamOptions): Provider {
  const { name } = options;
  const { post, secrets, close } = openUpstream(options, {
    headers: (apiKey) => ({
      'anthropic-version': apiVersion,
      ...(apiKey !== null && { 'x-api-key': apiKey }),
    }),
    readError: errorOf,
  });

  async function* chunks(reply: Reply, created: number): AsyncGenerator<StreamChunk> {
    const stream = new MessageStream(name, created);
    let begun = false;
    try {
      for await (const { data } of readEvents(name, reply)) {
        const event = parseEvent(name, data);
        if (event['type'] === 'error') throw failedInStream(event);
        for (const chunk of stream.take(event)) yield chunkOf(chunk, stream.unseen);
        begun = true;
        if (stream.ended) return;
      }
      throw begun ? cut(name) : badAnswer(name);
    } finally {
      reply.close(stream.ended);
    }
  }

  const failedInStream = (event: JsonObject): Error => {
    const error = errorOf(event);
    return failed({ provider: name, status: statuses[asText(error?.['type']) ?? ''] ?? 500, error, secrets });
  };

  const failure = (error: JsonObject): Error => failedWithin(name, error, secrets);

  return {
    name,
    // System and developer messages are sent separately and are not turns.
    templateTokens: ({ messages, instructions }) => 4 * (messages - instructions) + 3,
    speaks: new Set(['messages']),
    async chat({ model, body, native, ...call }) {
      if (native !== undefined) {
        const streamed = body['stream'] === true;
        const { text, headers } = native;
        const reply = await post('/v1/messages', text, { ...call, streamed, headers });
        return nativeAnswer({ name, failure }, native, reply, streamed);
      }
      const reply = await post('/v1/messages', messagesRequest(model, body), call);
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

/** Converts `{type: "error", error: {type, message}}`; adds OpenAI's code where clients act on it. */
function errorOf(body: JsonObject | null): JsonObject | null {
  const error = asObject(body?.['error']);
  if (error === null) return null;
  const tooLong = /prompt is too long|context (limit|window)/i.test(asText(error['message']) ?? '');
  return { ...error, ...(tooLong && { code: 'context_length_exceeded' }) };
}
