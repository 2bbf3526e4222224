import type { Protocol } from '../protocol.ts';
import { answerOf } from './answer.ts';
import { innerOf } from './inner.ts';
import { native } from './native.ts';
import { MessageEncoder } from './stream.ts';

/** Anthropic's Messages API. */
export const messages: Protocol = {
  name: 'messages',
  innerOf,
  answerOf,
  stream: (given) => new MessageEncoder(given),
  members: {
    response_format: 'output_config.format',
    stop: 'stop_sequences',
    max_completion_tokens: 'max_tokens',
    reasoning: 'thinking',
  },
  native,
};
