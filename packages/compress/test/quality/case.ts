import type { ChatMessage } from '../../src/index.ts';

/** A question on a text, and the stretches of the text without which it can't be answered. */
export interface Case {
  readonly set: string;
  /** Cases on the same facts, in whatever shape, are no independent evidence. */
  readonly fact: string;
  readonly messages: readonly ChatMessage[];
  readonly query: string;
  readonly gold: readonly string[];
  /** What must stand behind the first of those, within a row's length. */
  readonly near?: readonly string[] | undefined;
}

/** A text as a tool brings it, with the question behind it. */
export function asked(set: string, fact: string, text: string, query: string, gold: readonly string[]): Case {
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'user', content: query },
  ];
  return { set, fact, messages, query, gold };
}
