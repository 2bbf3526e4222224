import { type Block, type Draft, type Method, revert } from './blocks/blocks.ts';
import { type ChatMessage, furtherTexts, textsOf, withTexts } from './messages.ts';
import type { CompressOptions } from './options.ts';
import type { Tokenizer } from './tokens/tokenizer.ts';

export interface Account {
  /** Name of the encoding that counted, followed by ` (estimate)` if the model's own encoding is not known. */
  readonly tokenizer: string;
  readonly estimate: boolean;
  /** Tokens of the messages' texts, tool calls included, without a provider's framing. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Tokens that each method saved; their sum is the difference of the two counts. */
  readonly methods: Readonly<Partial<Record<Method, number>>>;
}

type Savings = Partial<Record<Method, number>>;

/** Number of tokens of all that a model is given to read. */
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
  /** Number of tokens of the messages before compression. */
  readonly before: number;
  readonly tokenizer: Tokenizer;
}

/**
 * Puts the texts of the blocks into the messages: each text only if it has fewer tokens, and each message only if it is
 * accepted. Returns the messages with the account of what was saved.
 */
export function accountFor(
  { messages, blocks, before, tokenizer }: Worked,
  accept: NonNullable<CompressOptions['accept']> = (savings) => new Set(savings.keys()),
): { messages: ChatMessage[]; account: Account; blocks: Block[] } {
  const out = [...messages];
  const methods: Savings = {};
  const shorter = [...Map.groupBy(blocks, ({ message }) => message)].flatMap(([index, own]) => {
    const message = messages[index];
    const texts = shorterTexts(own, tokenizer);
    return message === undefined || texts.length === 0 ? [] : [{ index, message, own, texts }];
  });
  const accepted = accept(
    new Map(shorter.map(({ index, texts }) => [index, texts.reduce((sum, { gain }) => sum + gain, 0)])),
  );
  for (const { index, message, own, texts } of shorter) {
    if (accepted.has(index)) {
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

/** The texts of a message that have become shorter. */
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

/** Credits the saved tokens to the methods. Tokens reach across blocks, so a rest goes to the step that saved most. */
function credit(blocks: readonly Draft[], gain: number, methods: Savings): void {
  const steps = blocks.flatMap(({ steps }) => steps);
  const most = steps.reduce((best, step) => (step.saved > best.saved ? step : best));
  const rest = gain - steps.reduce((sum, { saved }) => sum + saved, 0);
  for (const step of steps) {
    methods[step.method] = (methods[step.method] ?? 0) + step.saved + (step === most ? rest : 0);
  }
}
