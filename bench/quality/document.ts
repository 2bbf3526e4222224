import type { ChatMessage, CompressOptions } from '@tallystick/compress';
import type { Wording } from './sources.ts';

/** What a question of `bench/corpus` is about; the first four kinds depend on time. */
export type Kind =
  | 'newest'
  | 'older'
  | 'when'
  | 'order'
  | 'fact'
  | 'needle'
  | 'multi-hop'
  | 'incident'
  | 'record';

export const TEMPORAL: ReadonlySet<string> = new Set(['newest', 'older', 'when', 'order']);

/** A fact that is needed for an answer. */
export interface Gold {
  /** Text of the fact, which occurs in the document exactly once. */
  readonly text: string;
  /** Texts that must be in the same row. */
  readonly near?: readonly string[];
  /** The heading that dates the fact, or that it stands under. */
  readonly heading?: string | undefined;
}

export interface Case {
  readonly id: string;
  readonly kind: string;
  readonly question: string;
  readonly wording: Wording;
  readonly gold: readonly Gold[];
  /** What the question belongs to: a hand-written file, or a package. Questions of one source are no independent evidence. */
  readonly source: string;
  /** Whether the facts' headings are looked for although the question does not depend on time. */
  readonly labelled?: boolean;
}

/** Messages for a model without the question, and the questions about them. */
export interface Document {
  readonly id: string;
  readonly modality: string;
  readonly messages: readonly ChatMessage[];
  readonly cases: readonly Case[];
  /** Budgets, as shares of its tokens. */
  readonly budgets: readonly number[];
  /** All headings that date or name the text after them. */
  readonly headings: readonly string[];
  /** What the caller allows beyond the defaults. */
  readonly options?: Pick<CompressOptions, 'code'>;
}

export const BUDGETS = [0.5, 0.25, 0.1] as const;

const SYSTEM: ChatMessage = { role: 'system', content: 'Answer the last question from the material.' };

/** Messages in which a user pasted the text. */
export function pasted(lead: string, text: string): ChatMessage[] {
  return [SYSTEM, { role: 'user', content: `${lead}\n\n${text}` }];
}

/** Messages with the results of a tool, one for each text. */
export function fetched(tool: string, texts: readonly string[]): ChatMessage[] {
  const calls = texts.map((_, i) => ({
    id: `call_${i + 1}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(texts.length > 1 ? { page: i + 1 } : {}) },
  }));
  return [
    SYSTEM,
    { role: 'user', content: `Please look it up with ${tool}.` },
    { role: 'assistant', content: null, tool_calls: calls },
    ...texts.map((content, i) => ({ role: 'tool', tool_call_id: `call_${i + 1}`, content })),
    { role: 'assistant', content: 'I have the result.' },
  ];
}

export function textOf(messages: readonly ChatMessage[]): string {
  return messages.map(({ content }) => (typeof content === 'string' ? content : '')).join('\n');
}

/** Returns the document. @throws Error if a fact does not occur in it exactly once */
export function checked(document: Document): Document {
  const whole = textOf(document.messages);
  for (const { id, gold } of document.cases) {
    for (const { text, near = [] } of gold) {
      const first = whole.indexOf(text);
      if (first < 0 || whole.includes(text, first + 1)) {
        throw new Error(`${id}: “${text}” stands ${first < 0 ? 'nowhere' : 'twice'} in ${document.id}.`);
      }
      for (const other of near) if (!whole.includes(other)) throw new Error(`${id}: no “${other}”.`);
    }
  }
  return document;
}
