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
  /** Indexes of the messages that must be sent as they are: the system's, and calls of tools. */
  readonly untouched: readonly number[];
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
  const tool = toolOf(seed);
  const defined = JSON.stringify([tool], null, seed % 2 === 0 ? 2 : 0);
  // Some system texts hold tool definitions, and so do some users' texts; some prompts have a call of a tool and its result first.
  const system = seed % 3 === 0 ? `${SYSTEM}\n\nTools:\n${defined}` : SYSTEM;
  const user = seed % 5 === 0 ? `These are the tools:\n\n${defined}\n\n${content}` : content;
  const called = seed % 4 === 0 ? calledTool(random, tool.function.name, kind) : [];
  const messages = [{ role: 'system', content: system }, ...called, { role: 'user', content: user }];
  return {
    style,
    kind,
    messages,
    needed: [system, ...(seed % 5 === 0 ? [defined] : []), ...needed].filter((part) => part !== ''),
    untouched: messages.flatMap(({ role }, at) => (role === 'system' || role === 'assistant' ? [at] : [])),
  };
}

/** A tool as OpenAI's API describes it. */
function toolOf(seed: number) {
  return {
    type: 'function',
    function: {
      name: `find_${seed}`,
      description: 'Finds a thing by its name. Never call it twice for one name.',
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Name as it is written in the material' },
          limit: { type: 'integer', minimum: 1, maximum: 20 + seed },
        },
        required: ['name'],
      },
    },
  };
}

/** A call of a tool, its long result, and what was said of it. */
function calledTool(random: Random, name: string, kind: MaterialKind): ChatMessage[] {
  return [
    { role: 'user', content: 'Look it up, and do not tell anybody.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: '{"name":"all"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: writers[kind](random, 60).text },
    { role: 'assistant', content: 'I have the result. What do you want to know?' },
  ];
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
