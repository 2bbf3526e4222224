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
  native,
};
