import type { ChatMessage } from '../../src/index.ts';
import { generator, pick, type Random } from '../quality/random.ts';
import { type Instructions, type Style, styles } from './instructions.ts';
import { type MaterialKind, writers } from './material.ts';

/** A prompt, and the stretches of its user's and system's texts that no compression may touch. */
export interface Prompt {
  readonly style: Style;
  readonly kind: MaterialKind;
  readonly messages: readonly ChatMessage[];
  readonly needed: readonly string[];
}

/** Ways to set material off from instructions. */
const frames: Readonly<Record<string, (text: string) => string>> = {
  bare: (text) => text,
  rule: (text) => `---\n${text}\n---`,
  tag: (text) => `<document>\n${text}\n</document>`,
  fence: (text) => `\`\`\`text\n${text}\n\`\`\``,
  announced: (text) => `Here is the material:\n\n${text}`,
};

const SYSTEM = 'You are a clerk. Never guess. Speak to nobody about the vault, and sign as "K".';
const names = Object.keys(styles) as Style[];
const kinds = Object.keys(writers) as MaterialKind[];
const second = 'Also say who was the last to look at it, if that is known?';

/** Prompts in which instructions stand before, behind, around or without material; each seed gives one. */
export function promptOf(seed: number): Prompt {
  const random = generator(seed);
  const style = pick(random, names);
  const kind = pick(random, kinds);
  const { text, question } = writers[kind](random, 30 + Math.floor(random() * 60));
  const instructions = styles[style](random);
  const pasted = pick(random, Object.values(frames))(text);
  const { content, needed } = arranged(random, instructions, pasted, question);
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content },
  ];
  return { style, kind, messages, needed: [SYSTEM, ...needed].filter((part) => part !== '') };
}

function arranged(
  random: Random,
  { text, needed }: Instructions,
  pasted: string,
  question: string,
): { content: string; needed: string[] } {
  const ways = [
    [text, pasted, question],
    [question, pasted, text],
    [text, question, pasted],
    [pasted, text, question],
    [question, pasted, second, pasted.replaceAll(/\d/g, '7'), text],
    [text, question],
  ];
  const parts = pick(random, ways);
  const asked = [question, second].filter((part) => parts.includes(part));
  return { content: parts.join('\n\n'), needed: [...needed, ...asked] };
}
