import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '@tallystick/core';
import { type EmbedAnswer, type EmbedCall, ProviderError } from '../providers/provider.ts';
import { formatUsage } from '../providers/usage.ts';
import { countTokens } from '../tokens.ts';
import type { Usage } from '../types.ts';
import { embedCard } from './cards.ts';
import { embedRequest, refusedInput } from './embed-request.ts';
import { embeddingOf } from './embedding.ts';

/** Few texts at a time, so that calls take turns and an aborted one stops soon. */
const batchTexts = 16;
const batchCharacters = 8_192;

/** Embeds the texts of a request. @throws ProviderError */
export async function embedTexts({ model, body, signal }: EmbedCall): Promise<EmbedAnswer> {
  const { texts, base64 } = embedRequest(body);
  const data: JsonObject[] = [];
  let promptTokens = 0;
  for (const batch of batchesOf(texts)) {
    requireWanted(signal);
    for (const text of batch) {
      const index = data.length;
      const tokens = await countTokens([text], 'o200k');
      if (tokens > embedCard.limits.input_tokens)
        throw refused(index, `has ${tokens} tokens; this model accepts ${embedCard.limits.input_tokens}`);
      const vector = embeddingOf(text);
      if (vector === null) throw refused(index, 'contains no word that this model knows; it reads English');
      promptTokens += tokens;
      data.push({ object: 'embedding', index, embedding: base64 ? base64Of(vector) : [...vector] });
    }
    await setImmediate();
  }
  requireWanted(signal);
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

const refused = (index: number, why: string): ProviderError =>
  refusedInput('input', `Text ${index} of input ${why}.`);

/** Little-endian 32-bit floats, as OpenAI sends them. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

function requireWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProviderError('aborted', 'the call to local was aborted');
}
