import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../catalogue/open.ts';
import { readUsage } from '../providers/usage.ts';
import { deliveredOf } from './delivered-text.ts';
import { promptOf, tokenBound } from './token-bound.ts';
import { doubtsOf } from './usage-check.ts';

const { catalogue } = openCatalogue(
  { OPENAI_API_KEY: 'x' },
  {
    models: [
      {
        id: 'openai/gpt-4o-mini',
        context: 128_000,
        max_output: 16_384,
        abilities: ['stream'],
        price: { input: '0.15', output: '0.6' },
        prior: { general: 0.7 },
        tokenizer: 'o200k',
      },
    ],
  },
);
const model = catalogue.models.find(({ id }) => id === 'openai/gpt-4o-mini');
if (model === undefined) throw new Error('The catalogue has no such model.');

const PROSE = 'The ferry leaves at nine and the harbour is quiet. '.repeat(60);
/** As o200k counts it. */
const TOKENS = 661;
const user: JsonObject = { role: 'user', content: 'When does the ferry leave?' };
const short: JsonObject = { role: 'assistant', content: 'At nine.' };

/** What is doubted of a provider that counted so many tokens of a prompt and of the one message of its answer. */
async function doubted(
  { messages = [user], answer = short }: { messages?: JsonObject[]; answer?: JsonObject },
  [prompt, completion, reasoning = 0]: readonly [number, number, number?],
) {
  const usage = readUsage({
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  });
  if (usage === null || usage === 'malformed' || model === undefined) throw new Error('No usage.');
  const delivered = deliveredOf({ choices: [{ message: answer, finish_reason: 'stop' }] }, model.tokenizer);
  return doubtsOf(usage, { model, prompt: promptOf({ messages }), delivered, limit: 8_192 });
}

const NONE = { answer: null, prompt: null };

describe('what an answer may hold beside a text', () => {
  const custom = { id: 'c', type: 'custom', custom: { name: 'run', input: PROSE } };
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: PROSE }] },
    { type: 'text', text: 'At nine.' },
  ];
  const told = [{ type: 'reasoning.text', text: PROSE }];
  it.each([
    ['the call of a custom tool', { role: 'assistant', content: null, tool_calls: [custom] }],
    ['content in parts', { role: 'assistant', content: parts }],
    ['reasoning in parts', { ...short, reasoning_details: told }],
    ['reasoning as text and in parts', { ...short, reasoning: PROSE, reasoning_details: told }],
  ])('%s is counted', async (_, answer: JsonObject) => {
    expect(await doubted({ answer }, [15, TOKENS + 9])).toEqual(NONE);
    expect(await doubted({ answer }, [15, 3 * TOKENS])).toMatchObject({ answer: 'completion' });
    expect(await doubted({ answer }, [15, Math.floor(TOKENS / 6)])).toMatchObject({ answer: 'completion' });
  });

  it.each(['reasoning.encrypted', 'reasoning.summary'])(
    '%s is believed where nobody counts it',
    async (type) => {
      const answer = { ...short, reasoning_details: [{ type, data: 'AbC=', summary: 'Hm.' }] };
      expect(await doubted({ answer }, [15, 2_000])).toEqual(NONE);
      expect(await doubted({ answer }, [15, 2_000, 1_990])).toEqual(NONE);
      expect(await doubted({ answer }, [15, 2_000, 1_000])).toMatchObject({ answer: 'completion' });
    },
  );
});

describe('what the messages of a prompt may hold beside a text', () => {
  const after = (message: JsonObject): JsonObject[] => [user, { role: 'assistant', ...message }, user];

  it('the arguments of a function call are counted', async () => {
    const messages = after({ content: null, function_call: { name: 'look', arguments: PROSE } });
    expect(await doubted({ messages }, [TOKENS + 40, 3])).toEqual(NONE);
    expect(await doubted({ messages }, [4 * TOKENS, 3])).toMatchObject({ prompt: 'prompt' });
  });

  it.each(['reasoning_content', 'reasoning'])('%s may be counted, in part or not at all', async (name) => {
    const messages = after({ content: 'At nine.', [name]: PROSE.repeat(5) });
    for (const tokens of [25, 2 * TOKENS, 5 * TOKENS + 40])
      expect(await doubted({ messages }, [tokens, 3])).toEqual(NONE);
    expect(await doubted({ messages }, [15 * TOKENS, 3])).toMatchObject({ prompt: 'prompt' });
    expect(tokenBound(promptOf({ messages }))).toBeGreaterThan(PROSE.length * 5);
  });

  it('speech that is named by its id is bounded', async () => {
    const messages = after({ audio: { id: 'audio_1' } });
    expect(await doubted({ messages }, [900, 3])).toEqual(NONE);
    expect(await doubted({ messages }, [200_000, 3])).toMatchObject({ prompt: 'prompt' });
  });
});
