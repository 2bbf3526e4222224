import { kindOf } from '../learning/kinds.ts';
import type { Lesson } from '../learning/settled-call.ts';
import { readPrompt } from '../router/features.ts';
import { domainOf } from '../router/router.ts';
import { askedText } from '../router/text.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Route } from './route.ts';

/** What a chat call teaches, once it is billed. The prompt is read only to tell its kind. */
export function lessonOf(
  { body, choices }: ChatRequest,
  { decision }: Pick<Route, 'decision'>,
  call: Pick<Lesson, 'account' | 'limit' | 'stream' | 'times'>,
): Lesson {
  const { features, domain, needs, comparison } = decision.explanation.inputs;
  const readKind = (): ReturnType<Lesson['kind']> => {
    const read = readPrompt(askedText(body));
    return kindOf({ form: read.form, domain: domainOf(read) }, needs);
  };
  return {
    ...call,
    choices,
    arm: comparison === undefined ? null : `${comparison.name}:${comparison.arm}`,
    isRead: features !== null,
    kind: features === null ? readKind : () => kindOf({ form: features.form, domain }, needs),
  };
}
