import type { Protocol } from '../protocol.ts';
import { answerOf, CompletionEncoder } from './answer.ts';
import { innerOf } from './request.ts';

/** OpenAI's legacy completions. */
export const completions: Protocol = {
  name: 'completions',
  innerOf,
  answerOf,
  stream: (given) => new CompletionEncoder(given),
  members: { messages: 'prompt', max_completion_tokens: 'max_tokens' },
  native: null,
};
