import type { JsonObject } from '@tallystick/core';
import { type EmbedAnswer, type EmbedCall, ProviderError } from '../providers/provider.ts';
import { formatUsage } from '../providers/usage.ts';
import type { Usage } from '../types.ts';
import { embedCard } from './cards.ts';
import { embedRequest, refusedInput } from './embed-request.ts';
import type { EmbedThread } from './embed-thread.ts';

/** Small, so that calls take turns and one that is aborted stops soon. */
const batchTexts = 16;
const batchCharacters = 8_192;

/** @throws ProviderError */
export async function embedTexts(
  thread: EmbedThread,
  { model, body, signal }: EmbedCall,
): Promise<EmbedAnswer> {
  const { texts, base64 } = embedRequest(body);
  const data: JsonObject[] = [];
  let promptTokens = 0;
  for (const batch of batchesOf(texts)) {
    requireWanted(signal);
    const outcome = await orAborted(
      signal,
      thread.run({ texts: batch, mostTokens: embedCard.limits.input_tokens }),
    );
    if (outcome.kind !== 'vectors') throw refused(outcome.kind, data.length + outcome.index, outcome.tokens);
    promptTokens += outcome.tokens;
    for (const vector of outcome.vectors)
      data.push({
        object: 'embedding',
        index: data.length,
        embedding: base64 ? base64Of(vector) : [...vector],
      });
  }
  const usage: Usage = { promptTokens, completionTokens: 0, cachedTokens: 0, estimated: false };
  return { body: { object: 'list', data, model, usage: formatUsage(usage) }, usage };
}

function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length === batchTexts || (batch.length > 0 && characters + text.length > batchCharacters)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  yield batch;
}

function refused(kind: 'unknown' | 'too_long', index: number, tokens: number): ProviderError {
  return refusedInput(
    'input',
    kind === 'unknown'
      ? `Text ${index} of input contains no word that this model knows; it reads English.`
      : `Text ${index} of input has ${tokens} tokens; this model accepts ${embedCard.limits.input_tokens}.`,
  );
}

/** Little-endian 32-bit floats, as OpenAI sends them. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

async function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(aborted());
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // What is lost with the race must not be an unhandled rejection.
    work.catch(() => {});
  }
}

function requireWanted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted();
}

const aborted = (): ProviderError => new ProviderError('aborted', 'the call to local was aborted');
