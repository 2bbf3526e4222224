import { type Block, type Draft, type Method, revert } from './blocks/blocks.ts';
import { type ChatMessage, furtherTexts, textsOf, withTexts } from './messages.ts';
import type { CompressOptions } from './options.ts';
import type { Tokenizer } from './tokens/tokenizer.ts';

export interface Account {
  /** The encoding that counted; ` (estimate)` behind it where the model's own is not known. */
  readonly tokenizer: string;
  readonly estimate: boolean;
  /** Tokens of the messages' texts, tool calls included, without a provider's framing. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Tokens that each method saved; together the difference. */
  readonly methods: Readonly<Partial<Record<Method, number>>>;
}

type Savings = Partial<Record<Method, number>>;

/** Tokens of all that a model is given to read. */
export function countMessages(messages: readonly ChatMessage[], tokenizer: Tokenizer): number {
  let tokens = 0;
  for (const [index, message] of messages.entries()) {
    for (const { text } of textsOf(message, index)) tokens += tokenizer.count(text);
    for (const text of furtherTexts(message)) tokens += tokenizer.count(text);
  }
  return tokens;
}

interface Worked {
  readonly messages: readonly ChatMessage[];
  readonly blocks: readonly Draft[];
  /** Tokens of the messages as they came. */
  readonly before: number;
  readonly tokenizer: Tokenizer;
}

/**
 * Puts the blocks' texts into the messages, each text only where that is fewer tokens and each message only where it is
 * accepted, and draws the balance.
 */
export function accountFor(
  { messages, blocks, before, tokenizer }: Worked,
  accept: NonNullable<CompressOptions['accept']> = () => true,
): { messages: ChatMessage[]; account: Account; blocks: Block[] } {
  const out = [...messages];
  const methods: Savings = {};
  for (const [index, own] of Map.groupBy(blocks, ({ message }) => message)) {
    const message = messages[index];
    const texts = shorterTexts(own, tokenizer);
    if (message === undefined || texts.length === 0) continue;
    const saved = texts.reduce((sum, { gain }) => sum + gain, 0);
    if (accept(index, saved)) {
      for (const { blocks, gain } of texts) credit(blocks, gain, methods);
      out[index] = withTexts(message, new Map(texts.map(({ part, text }) => [part, text])));
    } else for (const block of own) revert(block);
  }
  const { name, estimate } = tokenizer;
  const after = countMessages(out, tokenizer);
  return {
    messages: out,
    account: { tokenizer: name, estimate, tokens_before: before, tokens_after: after, methods },
    blocks: blocks.map(published),
  };
}

function published({
  message,
  part,
  kind,
  original,
  text,
  steps,
  tokens_before,
  tokens_after,
  removed,
}: Draft): Block {
  return { message, part, kind, original, text, steps, tokens_before, tokens_after, removed };
}

interface ShorterText {
  /** Index of the content part; null for content that is one string. */
  readonly part: number | null;
  readonly text: string;
  readonly blocks: readonly Draft[];
  readonly gain: number;
}

/** The texts of a message that come out shorter. */
function shorterTexts(blocks: readonly Draft[], tokenizer: Tokenizer): ShorterText[] {
  const texts: ShorterText[] = [];
  for (const [part, own] of Map.groupBy(blocks, ({ part }) => part)) {
    if (own.every(({ steps }) => steps.length === 0)) continue;
    const text = own.map((block) => block.text).join('');
    const gain = tokenizer.count(own.map(({ original }) => original).join('')) - tokenizer.count(text);
    if (gain > 0) texts.push({ part, text, blocks: own, gain });
    else for (const block of own) revert(block);
  }
  return texts;
}

/** Tokens reach across the borders of blocks: what is left over goes to the step that saved most. */
function credit(blocks: readonly Draft[], gain: number, methods: Savings): void {
  const steps = blocks.flatMap(({ steps }) => steps);
  const most = steps.reduce((best, step) => (step.saved > best.saved ? step : best));
  const rest = gain - steps.reduce((sum, { saved }) => sum + saved, 0);
  for (const step of steps) {
    methods[step.method] = (methods[step.method] ?? 0) + step.saved + (step === most ? rest : 0);
  }
}
