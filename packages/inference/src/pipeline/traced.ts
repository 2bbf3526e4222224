import type { JsonObject } from '@tallystick/core';
import type { Span, SpanAttributes } from '@tallystick/kit';
import { asText } from '../providers/members.ts';
import { type Provider, ProviderError, type StreamChunk } from '../providers/provider.ts';
import { readUsage } from '../providers/usage.ts';
import type { Reported } from '../types.ts';

/**
 * The provider with a span around each call, from its beginning to the last byte of its answer (OpenTelemetry's semantic
 * conventions for generative AI, client spans), and with the trace passed on. Without telemetry the provider itself.
 */
export function traced(provider: Provider, parent: Span | null): Provider {
  if (parent === null) return provider;
  const { name, speaks } = provider;
  const begin = (operation: 'chat' | 'embeddings', model: string): Span =>
    parent.child(`${operation} ${model}`, 'client', {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': name,
      'gen_ai.request.model': model,
    });
  const embed = provider.embed?.bind(provider);
  return {
    name,
    speaks,
    templateTokens: (shape) => provider.templateTokens(shape),
    async chat(call) {
      const span = begin('chat', call.model);
      const answer = await orEnd(span, provider.chat({ ...call, trace: span.headers() }));
      if (answer.kind === 'stream') return { kind: 'stream', chunks: tracedChunks(answer.chunks, span) };
      span.set(answered(answer.body, answer.usage));
      span.end();
      return answer;
    },
    ...(embed !== undefined && {
      async embed(call) {
        const span = begin('embeddings', call.model);
        const answer = await orEnd(span, embed({ ...call, trace: span.headers() }));
        span.set(answered(answer.body, answer.usage));
        span.end();
        return answer;
      },
    }),
    close: () => provider.close(),
  };
}

/** The same chunks; their end, or their failure, ends the span. One promise a chunk, as a generator would take several. */
function tracedChunks(chunks: AsyncIterable<StreamChunk>, span: Span): AsyncIterable<StreamChunk> {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]();
      let first: JsonObject | null = null;
      let usage: Reported = null;
      let over = false;
      const end = (error?: string): void => {
        if (over) return;
        over = true;
        span.set(answered(first ?? {}, usage));
        span.end(error);
      };
      return {
        async next() {
          const step = await source.next().catch((error: unknown) => {
            end(errorType(error));
            throw error;
          });
          if (step.done === true) {
            end();
            return step;
          }
          const { json, unseen } = step.value;
          first ??= json;
          if (typeof json['usage'] === 'object') usage = readUsage(json, unseen) ?? usage;
          return step;
        },
        async return() {
          await source.return?.();
          end('aborted');
          return { done: true, value: undefined };
        },
      };
    },
  };
}

async function orEnd<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    span.end(errorType(error));
    throw error;
  }
}

function errorType(error: unknown): string {
  return error instanceof ProviderError ? error.kind : 'internal';
}

function answered({ model }: JsonObject, usage: Reported): SpanAttributes {
  const named = asText(model);
  return {
    ...(named !== null && { 'gen_ai.response.model': named }),
    ...(typeof usage === 'object' &&
      usage !== null && {
        'gen_ai.usage.input_tokens': usage.promptTokens,
        'gen_ai.usage.output_tokens': usage.completionTokens,
        'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
      }),
  };
}
