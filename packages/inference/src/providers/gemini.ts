import type { JsonObject } from '@tallystick/core';
import { chunkOf, parseEvent, readEvents, readObject, startStream } from './answers.ts';
import { bodyToTranslate } from './body-to-translate.ts';
import { badAnswer, cut } from './failures.ts';
import { completionOf, GeminiStream } from './gemini-answer.ts';
import { geminiRequest } from './gemini-request.ts';
import { asObject, asText, objectsOf } from './members.ts';
import type { Provider, StreamChunk } from './provider.ts';
import type { Reply } from './reply.ts';
import { openUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';

/** The Gemini API. Its base URL is without the version, as its own SDK takes it. */
export function geminiProvider(options: UpstreamOptions): Provider {
  const upstream = openUpstream(options, {
    // A key in the URL would be in the logs of whatever is in between.
    keyHeader: 'x-goog-api-key',
    readError: geminiError,
  });
  return generateContentProvider(options.name, upstream, '/v1beta');
}

/**
 * A provider whose models have the methods `generateContent` and `streamGenerateContent`.
 * @param prefix of the path of `models/`
 */
export function generateContentProvider(
  name: string,
  { post, failure, limitedMs, close }: Upstream,
  prefix: string,
): Provider {
  const requireNoError = (response: JsonObject): JsonObject => {
    const error = geminiError(response);
    if (error !== null) throw failure(error);
    return response;
  };

  async function* chunks(reply: Reply, created: number): AsyncGenerator<StreamChunk> {
    const stream = new GeminiStream(name, created);
    let begun = false;
    try {
      for await (const { data } of readEvents(name, reply)) {
        for (const chunk of stream.take(requireNoError(parseEvent(name, data)))) yield chunkOf(chunk);
        begun = true;
      }
      if (!stream.finished) throw begun ? cut(name) : badAnswer(name);
      for (const chunk of stream.end()) yield chunkOf(chunk);
    } finally {
      reply.close(stream.finished);
    }
  }

  return {
    name,
    // System and developer messages are sent separately and are not turns.
    speaks: new Set(),
    templateTokens: ({ messages, instructions }) => 4 * (messages - instructions) + 3,
    limitedMs,
    async chat(call) {
      const body = bodyToTranslate(call);
      const streamed = body['stream'] === true;
      const method = streamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const path = `${prefix}/models/${encodeURIComponent(call.model)}:${method}`;
      const reply = await post(path, geminiRequest(call.model, body), { ...call, streamed });
      const created = Math.floor(Date.now() / 1_000);
      if (streamed) return { kind: 'stream', chunks: await startStream(name, chunks(reply, created)) };
      return {
        kind: 'complete',
        ...completionOf(name, requireNoError(await readObject(name, reply)), created),
      };
    },
    close,
  };
}

/** Converts `{error: {code, message, status, details}}` (google.rpc.Status); `code` is the HTTP status. */
export function geminiError(body: JsonObject | null): JsonObject | null {
  const error = asObject(body?.['error']);
  if (error === null) return null;
  const { code, message, status } = error;
  const details = objectsOf(error['details']);
  const invalidKey = details.some(({ reason }) => reason === 'API_KEY_INVALID');
  const tooLong = /exceeds the maximum number of tokens/i.test(asText(message) ?? '');
  const [, seconds] =
    details
      .map(({ retryDelay }) => /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(asText(retryDelay) ?? ''))
      .find((found) => found !== null) ?? [];
  return {
    message: message ?? null,
    type: status ?? null,
    status: code ?? null,
    ...(invalidKey && { code: 'invalid_api_key' }),
    ...(tooLong && { code: 'context_length_exceeded' }),
    ...(seconds !== undefined && { retry_after_ms: Math.ceil(Number(seconds) * 1_000) }),
  };
}
