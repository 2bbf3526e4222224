import type { Model } from '../catalogue/catalogue.ts';
import { hardTokens } from '../tokens.ts';
import type { DoubtReason, Usage } from '../types.ts';
import type { Delivered, Size } from './delivered-text.ts';
import type { Prompt } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/** What a provider's counts are compared with. */
export interface Counted {
  readonly model: Model;
  readonly prompt: Prompt;
  /** The answer; null for a call whose answer has no text. */
  readonly delivered: Delivered | null;
  /** The most output tokens that were requested, of all choices; null if there are none. */
  readonly limit: number | null;
}

/** Factor by which a provider's counts may exceed ours or fall below. Tokenizers differ, and so do chat templates. */
const MOST = 2;
const LEAST = 1 / 3;
/** A count with between so many bytes per token is believed without counting: text in any script has 2.5 to 8. */
const FEWEST_BYTES = 2.5;
const MOST_BYTES = 8;
/** Tokens that a provider may add to a prompt, for example a system prompt of its own, and to describe tools and schemas. */
const PROMPT_SLACK = 256;
const TOOLS_SLACK = 512;
/** Tokens allowed beyond the text for the end of each choice and the frame of each tool call. */
const ANSWER_SLACK = 32;

/** Our count of a text, and the allowed difference. */
interface Measure {
  readonly size: Size;
  readonly slack: number;
}

/** Why each of a provider's two counts cannot be true; null if it can. */
export interface Doubts {
  readonly answer: Exclude<DoubtReason, 'malformed' | 'prompt'> | null;
  readonly prompt: 'prompt' | null;
}

/** Compares a provider's counts with the texts, which are counted here only if their lengths leave doubt. */
export async function doubtsOf(usage: Usage, call: Counted): Promise<Doubts> {
  return {
    answer: await doubtOfAnswer(usage, call),
    prompt: (await isPromptRight(usage, call)) ? null : 'prompt',
  };
}

async function doubtOfAnswer(
  { completionTokens, hidden = 0 }: Usage,
  { model, delivered, limit }: Counted,
): Promise<Doubts['answer']> {
  if (completionTokens > (limit ?? 0)) return 'limit';
  if (delivered === null) return null;
  const answer = delivered.size(hidden !== 0 && hidden !== 'unknown');
  const visible = hidden === 'unknown' ? completionTokens : completionTokens - hidden;
  if (visible === 0 && answer.bytes > 0) return 'zero';
  const counted: Measure = { size: answer, slack: ANSWER_SLACK * (delivered.ends + delivered.toolCalls) };
  // Invisible output can explain many tokens, but not few.
  const isUntold = hidden === 'unknown' || (hidden === 0 && delivered.hidesReasoning);
  const most = isUntold || delivered.isUnseen ? Number.POSITIVE_INFINITY : null;
  const isBelieved =
    (await isEnough(visible, counted)) && (await isNotTooMany(visible, counted, model, most));
  return isBelieved ? null : 'completion';
}

async function isPromptRight({ promptTokens }: Usage, { model, prompt }: Counted): Promise<boolean> {
  const {
    texts,
    reasoning = [],
    extraTokens,
    isOpen = false,
    turns = 1,
    isShortened = false,
    hasTools = false,
  } = prompt;
  if (promptTokens === 0) return false;
  const slack = PROMPT_SLACK + extraTokens + (hasTools ? TOOLS_SLACK : 0);
  const least: Measure = { size: sizeOf(texts, model), slack };
  if (!isShortened && !(await isEnough(promptTokens, least))) return false;
  const most: Measure = { size: sizeOf([...texts, ...reasoning], model), slack };
  return isNotTooMany(promptTokens, most, model, isOpen ? model.context * turns : null);
}

function sizeOf(texts: readonly string[], { tokenizer }: Model): Size {
  return {
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    tokens: () => countPrompt({ texts, extraTokens: 0 }, tokenizer),
    hard: async () => texts.reduce((sum, text) => sum + hardTokens(text), 0),
  };
}

async function isEnough(reported: number, { size, slack }: Measure): Promise<boolean> {
  if (reported + slack >= size.bytes / MOST_BYTES) return true;
  return reported + slack >= (await size.tokens()) * LEAST;
}

/** @param most replaces the upper limit, if given */
async function isNotTooMany(
  reported: number,
  { size, slack }: Measure,
  { tokenizer }: Model,
  most: number | null,
): Promise<boolean> {
  if (most !== null) return reported <= most;
  if (reported <= size.bytes / FEWEST_BYTES + slack) return true;
  const own = await size.tokens();
  if (reported <= own * MOST + slack) return true;
  return tokenizer === 'estimate' && reported <= own * MOST + slack + (await size.hard());
}
