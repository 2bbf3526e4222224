import { type Block, type ChatMessage, compress, restore, type Tokenizer } from '@tallystick/compress';
import type { Document } from './document.ts';

/** Result of the lossless tier for a document. */
export interface LosslessOutcome {
  readonly document: Document;
  readonly before: number;
  readonly after: number;
  /** Whether every block was restored: to the character, or for JSON by value, with the lexemes of its numbers. */
  readonly equal: boolean;
  /** Whether nothing was changed at all. */
  readonly identical: boolean;
}

export function losslessOutcome(document: Document, tokenizer: Tokenizer): LosslessOutcome {
  const { messages, account, blocks } = compress(document.messages, { tokenizer });
  return {
    document,
    before: account.tokens_before,
    after: account.tokens_after,
    equal: blocks.every(comesBack) && framed(messages, document.messages),
    identical: JSON.stringify(messages) === JSON.stringify(document.messages),
  };
}

/** Returns whether a block's text, by itself, decodes to the original. References to other texts count as restored. */
function comesBack(block: Block): boolean {
  if (block.text === block.original || block.steps.some(({ method }) => method === 'dedupe')) return true;
  const alone: ChatMessage = { role: 'tool', content: block.text };
  const [restored] = restore({ messages: [alone], blocks: [{ ...block, message: 0, part: null }] });
  const text = restored?.content;
  return typeof text === 'string' && sameContent(text, block.original);
}

export function sameContent(decoded: string, original: string): boolean {
  if (decoded === original) return true;
  const [a, b] = [valuesOf(decoded), valuesOf(original)];
  return (
    a !== undefined &&
    b !== undefined &&
    JSON.stringify(a) === JSON.stringify(b) &&
    sameNumbers(decoded, original)
  );
}

/** The JSON value of a text, JSON Lines as a list; undefined if it is neither. */
function valuesOf(text: string): unknown {
  for (const candidate of [text, `[${text.trim().split('\n').join(',')}]`]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // Not JSON in this form: the next form is tried.
    }
  }
  return undefined;
}

function sameNumbers(decoded: string, original: string): boolean {
  const numbers = (text: string): string =>
    (text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? []).join(' ');
  return numbers(decoded) === numbers(original);
}

/** Returns whether everything but the contents of tools' and users' messages is unchanged. */
function framed(out: readonly ChatMessage[], before: readonly ChatMessage[]): boolean {
  const frame = (messages: readonly ChatMessage[]): string =>
    JSON.stringify(
      messages.map((message) =>
        message.role === 'tool' || message.role === 'user' ? { ...message, content: null } : message,
      ),
    );
  return frame(out) === frame(before);
}
