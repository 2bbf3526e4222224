import type { ChatMessage } from '../../src/index.ts';

/** A question on a text, and the stretches of the text without which it can't be answered. */
export interface Case {
  readonly set: string;
  /** Id of the facts that the case is about: cases on the same facts are no independent evidence. */
  readonly fact: string;
  readonly messages: readonly ChatMessage[];
  readonly query: string;
  readonly gold: readonly string[];
  /** Texts that must stand after the first of those, within a row's length. */
  readonly near?: readonly string[] | undefined;
}

/** A case whose text a tool brings, followed by the question. */
export function asked(set: string, fact: string, text: string, query: string, gold: readonly string[]): Case {
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'user', content: query },
  ];
  return { set, fact, messages, query, gold };
}
