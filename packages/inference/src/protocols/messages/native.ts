import { completionOf } from '../../providers/anthropic-answer.ts';
import { errorIn } from '../../providers/anthropic-error.ts';
import { isForeignBlock } from '../../providers/anthropic-reasoning.ts';
import { MessageStream } from '../../providers/anthropic-stream.ts';
import { badAnswer } from '../../providers/failures.ts';
import { objectsOf } from '../../providers/members.ts';
import type { NativeForm } from '../protocol.ts';
import { conversationOf } from './conversation.ts';
import { nativeOnly } from './native-only.ts';

/** How a call passes to a provider that speaks the Messages API. */
export const native: NativeForm = {
  protocol: 'messages',
  modelPaths: [['model'], ['message', 'model']],
  limit: 'max_tokens',
  headers: ['anthropic-beta'],
  // What another model thought is left out of the translation, and would be refused as it is.
  fits: ({ messages }) => !objectsOf(messages).some(({ content }) => objectsOf(content).some(isForeignBlock)),
  textPlaces: (body) => conversationOf(body).places,
  nativeOnly,
  innerAnswer(provider, body, created) {
    if (body['type'] !== 'message' || !Array.isArray(body['content'])) throw badAnswer(provider);
    return completionOf(body, created);
  },
  innerStream: (provider, created) => new MessageStream(provider, created),
  errorIn,
};
