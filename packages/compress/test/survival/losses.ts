import { compress, tokenizerFor } from '../../src/index.ts';
import { generator } from '../quality/random.ts';
import { type MaterialKind, writers } from './material.ts';
import { type Prompt, promptOf } from './prompts.ts';

export const BUDGETS = [0.5, 0.25, 0.1] as const;

const tokenizer = tokenizerFor();

/** The stretches of a prompt that are missing, or changed, in what is sent. */
function lostOf({ messages, needed, untouched }: Prompt, budget: number): string[] {
  const out = compress(messages, { tier: 'extractive', budget, tokenizer }).messages;
  const sent = out.map(({ content }) => (typeof content === 'string' ? content : ''));
  const whole = untouched
    .filter((index) => out[index] !== messages[index])
    .map((index) => `message ${index}`);
  return [...whole, ...needed.filter((stretch) => !sent.some((text) => text.includes(stretch)))];
}

/** Among `count` prompts: the prompts that lost something, by style of their instructions. */
export function losses(count: number, from = 0): Record<string, number> {
  const lost: Record<string, number> = {};
  for (let seed = from; seed < from + count; seed++) {
    const prompt = promptOf(seed);
    const loses = BUDGETS.some((budget) => lostOf(prompt, budget).length > 0);
    if (loses) lost[prompt.style] = (lost[prompt.style] ?? 0) + 1;
  }
  return lost;
}

/**
 * What is left of a tool's result: whether the line that is asked for is, the part of the budget that is used, and the number
 * of its tokens that are not.
 */
export function materialLeft(
  kind: MaterialKind,
  budget: number,
  seed: number,
): { kept: boolean; used: number; free: number } {
  const { text, question, answer } = writers[kind](generator(seed), 80);
  const messages = [
    { role: 'tool', tool_call_id: 'call_1', content: text },
    { role: 'user', content: question },
  ];
  const { messages: out, account } = compress(messages, { tier: 'extractive', budget, tokenizer });
  const allowed = Math.floor(account.tokens_before * budget);
  return {
    kept: JSON.stringify(out[0]).includes(JSON.stringify(answer).slice(1, -1)),
    used: account.tokens_after / allowed,
    free: allowed - account.tokens_after,
  };
}
