import { type Block, type ChatMessage, compress, restore, type Tokenizer } from '@tallystick/compress';
import type { Document } from './document.ts';
import { median, rounded } from './statistics.ts';

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

export interface LosslessRow {
  readonly kind: string;
  readonly documents: number;
  readonly decoded_equal: number;
  readonly identical: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly saved_median: number;
  readonly saved_worst: number;
  readonly saved_best: number;
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

/** The savings of documents together: their median, the least and the most of any. */
export function saved(own: readonly { readonly before: number; readonly after: number }[]) {
  const shares = own.map(({ before, after }) => 1 - after / before);
  return {
    tokens_before: own.reduce((sum, { before }) => sum + before, 0),
    tokens_after: own.reduce((sum, { after }) => sum + after, 0),
    saved_median: rounded(median(shares)),
    saved_worst: rounded(Math.min(...shares)),
    saved_best: rounded(Math.max(...shares)),
  };
}

/** The rows of the kinds of material, and of all together. */
export function losslessRows(all: readonly LosslessOutcome[]): LosslessRow[] {
  const kinds = [...Map.groupBy(all, ({ document }) => document.modality)];
  return [...kinds, ['all', all] as const].map(([kind, own]) => ({
    kind,
    documents: own.length,
    decoded_equal: own.filter(({ equal }) => equal).length,
    identical: own.filter(({ identical }) => identical).length,
    ...saved(own),
  }));
}
