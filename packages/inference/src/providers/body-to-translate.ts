import type { ChatBody } from '../types.ts';
import type { ChatCall } from './provider.ts';

/**
 * The body of a call, without settings of reasoning if the model does not reason and they come from another protocol
 * than chat: clients of those send them with every request.
 */
export function bodyToTranslate({ body, translated }: Pick<ChatCall, 'body' | 'translated'>): ChatBody {
  if (translated === undefined || translated.reasons) return body;
  const { reasoning: _reasoning, reasoning_effort: _effort, ...rest } = body;
  return rest;
}
