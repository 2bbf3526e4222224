import { type JsonObject, type JsonValue, LineReader, TallyError } from '@tallystick/core';
import { chunkOf, maxEventLength, parseObject, readObject, startStream } from './answers.ts';
import { badAnswer, cut, errorOf } from './failures.ts';
import { present } from './members.ts';
import { completionOf, embeddingsOf, OllamaStream } from './ollama-answer.ts';
import { ollamaRequest } from './ollama-request.ts';
import { type Provider, type StreamChunk, unsupported } from './provider.ts';
import { type Reply } from './reply.ts';
import { openUpstream, type UpstreamOptions } from './upstream.ts';

/** Ollama's own API: `/api/chat`, whose streams are lines of JSON, and `/api/embed`. */
export function ollamaProvider(options: UpstreamOptions): Provider {
  const { name } = options;
  const { post, failure, limitedMs, close } = openUpstream(options);

  const requireNoError = (answer: JsonObject): JsonObject => {
    const error = errorOf(answer);
    if (error !== null) throw failure(error);
    return answer;
  };

  async function* chunks(reply: Reply, created: number): AsyncGenerator<StreamChunk> {
    const stream = new OllamaStream(created);
    let begun = false;
    try {
      for await (const line of readLines(name, reply)) {
        for (const chunk of stream.take(requireNoError(line))) yield chunkOf(chunk, stream.unseen);
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
    speaks: new Set(),
    // Templates differ; this is the one of Llama 3: header and end of each message, beginning of text and of the answer.
    templateTokens: ({ messages }) => 5 * messages + 5,
    limitedMs,
    async chat({ body, ...call }) {
      const reply = await post('/api/chat', ollamaRequest(call.model, body), call);
      const created = Math.floor(Date.now() / 1_000);
      if (body['stream'] === true)
        return { kind: 'stream', chunks: await startStream(name, chunks(reply, created)) };
      const answer = requireNoError(await readObject(name, reply));
      if (typeof answer['message'] !== 'object') throw badAnswer(name);
      return { kind: 'complete', ...completionOf(answer, created) };
    },
    async embed({ body, ...call }) {
      const input = textInput(body['input']);
      const request = present({ model: call.model, input, dimensions: body['dimensions'] ?? undefined });
      const answer = requireNoError(await readObject(name, await post('/api/embed', request, call)));
      const vectors = answer['embeddings'];
      if (!isMatrix(vectors) || vectors.length !== input.length) throw badAnswer(name);
      return embeddingsOf(answer, vectors, body['encoding_format'] === 'base64');
    },
    close,
  };
}

/** Yields the lines of a reply's body as they arrive. @throws ProviderError */
async function* readLines(provider: string, reply: Reply): AsyncGenerator<JsonObject> {
  const lines: JsonObject[] = [];
  const reader = new LineReader(
    (line) => lines.push(parseObject(provider, line)),
    () => maxEventLength,
  );
  for await (const bytes of reply.bytes) {
    try {
      reader.push(bytes);
    } catch (error) {
      throw error instanceof TallyError ? badAnswer(provider) : error;
    }
    yield* lines.splice(0);
  }
}

function textInput(input: JsonValue | undefined): string[] {
  const texts = typeof input === 'string' ? [input] : input;
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw unsupported('ollama', 'input', 'This model embeds text, not tokens.');
}

function isMatrix(value: JsonValue | undefined): value is number[][] {
  return (
    Array.isArray(value) &&
    value.every((row) => Array.isArray(row) && row.every((cell) => typeof cell === 'number'))
  );
}
