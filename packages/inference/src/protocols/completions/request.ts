import { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@tallystick/core';
import { callMembers } from '../../pipeline/call-members.ts';
import type { ChatBody } from '../../types.ts';
import { unsupportedMember } from '../protocol.ts';

const MAX_CHOICES = 8;
const MAX_LIMIT = 1_000_000;
const MAX_LOGPROBS = 5;
/** What the API gives where `max_tokens` is absent. */
const DEFAULT_LIMIT = 16;

const tokens = z.array(z.int().min(0)).min(1);

/** A legacy completion request of OpenAI's API. */
export const completionRequestSchema = z
  .looseObject({
    ...callMembers,
    prompt: z.union([z.string(), z.array(z.string()).min(1), tokens, z.array(tokens).min(1)]).openapi({
      description: 'The text to be continued: one text, or an array of one. Tokens are refused.',
    }),
    max_tokens: z
      .int()
      .min(1)
      .max(MAX_LIMIT)
      .nullish()
      .openapi({ description: 'The most tokens that each choice may have.', default: DEFAULT_LIMIT }),
    stream: z
      .boolean()
      .nullish()
      .describe('Whether the answer comes as server-sent events. False when absent.'),
    stream_options: z
      .looseObject({
        include_usage: z
          .boolean()
          .nullish()
          .describe('Whether a chunk with `usage` comes before the last one.'),
      })
      .nullish()
      .describe('Of a stream.'),
    n: z.int().min(1).max(MAX_CHOICES).nullish().describe('How many choices are answered. 1 when absent.'),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .describe('How freely the model chooses its words: 0 for the likeliest ones.'),
    top_p: z.number().min(0).max(1).nullish().describe('Share of the likeliest tokens that are chosen from.'),
    stop: z
      .union([z.string(), z.array(z.string()).max(16)])
      .nullish()
      .describe('Texts at which the model stops.'),
    logprobs: z
      .int()
      .min(0)
      .max(MAX_LOGPROBS)
      .nullish()
      .describe('For how many of the likeliest tokens at each place the log probability is given.'),
  })
  .openapi('CompletionRequest', {
    description:
      'As OpenAI takes it. `echo`, `suffix`, a `best_of` above `n` and tools are refused; other members that are not listed here pass to the provider as they are.',
  });

/** The prompt becomes the only message. @throws TallyError invalid_request */
export function innerOf(body: JsonObject): ChatBody {
  const { prompt, logprobs, echo, suffix, best_of: bestOf, stream_options: _options, ...rest } = body;
  if (isGiven(echo) && echo !== false)
    throw unsupportedMember('echo', 'the prompt cannot be given back with the answer.');
  if (isGiven(suffix) && suffix !== '')
    throw unsupportedMember('suffix', 'a text cannot be inserted before another.');
  if (isGiven(bestOf) && bestOf !== (body['n'] ?? 1))
    throw unsupportedMember('best_of', 'every choice is given back, so it must equal n.');
  for (const name of ['messages', 'tools', 'functions'])
    if (body[name] !== undefined)
      throw unsupportedMember(name, 'completions have none. Use /v1/compute/chat/completions.');
  return {
    ...rest,
    messages: [{ role: 'user', content: textOf(prompt) }],
    max_tokens: body['max_tokens'] ?? DEFAULT_LIMIT,
    ...(typeof logprobs === 'number' && { logprobs: true, top_logprobs: logprobs }),
  };
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function textOf(prompt: JsonValue | undefined): string {
  const [text, ...more] = Array.isArray(prompt) ? prompt : [prompt];
  if (typeof text !== 'string')
    throw unsupportedMember('prompt', 'tokens cannot be read without their tokenizer. Send the text.');
  if (more.length > 0) throw unsupportedMember('prompt', 'a call takes one prompt. Send a call for each.');
  return text;
}
