import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tallystick/core';
import { chunkOf } from '../providers/answers.ts';
import { type AnswerHead, completion, deltaChunk, usageChunk } from '../providers/completion.ts';
import {
  type ChatAnswer,
  type ChatCall,
  ProviderError,
  type StreamChunk,
  unsupported,
} from '../providers/provider.ts';
import { countTokens } from '../tokens.ts';
import type { Usage } from '../types.ts';
import { extractCard } from './cards.ts';
import type { Message } from './conversation.ts';
import { type Extract, extract } from './extract.ts';
import { extractRequest } from './request.ts';
import { loadTokenizer } from './tokens.ts';

const perMessage = 3;
const perAnswer = 3;
const mostCharactersPerToken = 8;

/** Answers with the conversation's own sentences. @throws ProviderError refused or aborted */
export async function extractChat({ model, body, signal }: ChatCall): Promise<ChatAnswer> {
  requireWanted(signal);
  const request = extractRequest(body);
  const promptTokens = await countPrompt(request.messages);
  const tokenizer = await loadTokenizer();
  requireWanted(signal);
  const answer = extract(request, tokenizer);
  const completionTokens = tokenizer.count(answer.text) * request.choices;
  const usage: Usage = { promptTokens, completionTokens, cachedTokens: 0, estimated: false };
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1_000), model };
  if (request.stream)
    return { kind: 'stream', chunks: streamed(head, answer, request.choices, usage, signal) };
  return { kind: 'complete', body: complete(head, answer, request.choices, usage), usage };
}

async function countPrompt(messages: readonly Message[]): Promise<number> {
  const limit = extractCard.limits.context_tokens;
  const length = messages.reduce((sum, { text }) => sum + text.length, 0);
  if (length > limit * mostCharactersPerToken) throw tooLong(`${length} characters`);
  const own = messages.length * perMessage + perAnswer;
  const tokens =
    own +
    (await countTokens(
      messages.flatMap(({ role, text }) => [role, text]),
      'o200k',
    ));
  if (tokens > limit) throw tooLong(`${tokens} tokens`);
  return tokens;
}

function tooLong(size: string): ProviderError {
  const message = `The messages have ${size}; this model accepts ${extractCard.limits.context_tokens} tokens.`;
  const { error } = unsupported('local', 'messages', message);
  return new ProviderError('refused', 'local accepts fewer tokens', {
    status: 400,
    error: { ...error, code: 'context_length_exceeded' },
  });
}

/** All choices are equal, since nothing here is random. */
function complete(head: AnswerHead, { text, finish }: Extract, choices: number, usage: Usage): JsonObject {
  const body = completion(head, { text, toolCalls: [], finish, usage });
  return { ...body, choices: copies(body, choices) };
}

async function* streamed(
  head: AnswerHead,
  { text, finish }: Extract,
  choices: number,
  usage: Usage,
  signal: AbortSignal,
): AsyncGenerator<StreamChunk> {
  for (const delta of [{ role: 'assistant', content: '' }, ...wordsOf(text)]) {
    requireWanted(signal);
    yield* eachChoice(deltaChunk(head, delta), choices);
  }
  yield* eachChoice(deltaChunk(head, {}, finish), choices);
  yield chunkOf(usageChunk(head, usage));
}

/** Pieces of a few characters where the script has no spaces. */
function wordsOf(text: string): JsonObject[] {
  return (text.match(/\s*\S{1,32}\s*$|\s*\S{1,32}|\s+$/gu) ?? []).map((content) => ({ content }));
}

function* eachChoice(chunk: JsonObject, choices: number): Generator<StreamChunk> {
  for (const choice of copies(chunk, choices)) yield chunkOf({ ...chunk, choices: [choice] });
}

function copies({ choices }: JsonObject, count: number): JsonObject[] {
  const [choice] = Array.isArray(choices) ? choices : [];
  return Array.from({ length: count }, (_, index) => ({ ...(choice as JsonObject), index }));
}

function requireWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProviderError('aborted', 'the call to local was aborted');
}
