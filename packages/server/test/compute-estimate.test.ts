import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { encodeChat } from 'gpt-tokenizer/model/gpt-4o';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, type Routed, startRouted, svcOf } from './compute.ts';
import { withModels } from './models.ts';

interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

const user = (content: string): Turn => ({ role: 'user', content });
const answer = (content: string): Turn => ({ role: 'assistant', content });
const system = (content: string): Turn => ({ role: 'system', content });

const PROMPTS: readonly (readonly Turn[])[] = [
  [user('hi')],
  [user('Say it.')],
  [user('What is a tally stick?')],
  [user('2+2=')],
  [user('Übersetze ins Englische: „Die Fähre legt um 7:40 Uhr ab.“')],
  [user('東京の人口は?')],
  [user('👋')],
  [user('SELECT id, name FROM users WHERE created_at > now() - interval 1 day;')],
  [system('You are terse.'), user('Name a prime above 100.')],
  [user('Hi.'), answer('Hello! How can I help?'), user('Tell me a joke.')],
  [system('Answer in French.'), user('Who are you?'), answer('Un modèle.'), user('Of whom?')],
];

/** As OpenAI's own tokenizer counts a chat, by an implementation that is not ours. */
const countedByOpenAi = (turns: readonly Turn[]): number =>
  encodeChat(turns.map((turn) => ({ ...turn }))).length;

const LLAMA = {
  id: 'ollama/llama3.2',
  context: 8_192,
  max_output: 1_024,
  abilities: ['stream'],
  price: { input: '1', output: '1' },
  prior: { general: 0.5 },
};

let routed: Routed;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tally-estimate-'));
  const file = join(folder, 'models.json');
  writeFileSync(file, JSON.stringify(withModels({ models: [LLAMA] })));
  routed = await startRouted({ explain: true, env: { OLLAMA_HOST: '127.0.0.1:9', TALLY_CONFIG: file } });
});
afterAll(async () => {
  await routed.close();
  rmSync(folder, { recursive: true });
});

async function estimated(model: string, messages: readonly Turn[]): Promise<{ prompt: number; min: bigint }> {
  const reply = await routed.post('/v1/compute/estimate', { model, messages });
  const { tokens, cost } = (await reply.json()) as {
    tokens: { prompt: number };
    cost: { min: { nano: string } };
  };
  return { prompt: tokens.prompt, min: BigInt(cost.min.nano) };
}

function expectNear(found: number, billed: number): void {
  expect(Math.abs(found - billed) / billed, `${found} estimated, ${billed} billed`).toBeLessThanOrEqual(0.1);
}

describe.each(PROMPTS.map((turns) => [JSON.stringify(turns.map(({ content }) => content)), turns] as const))(
  'the estimate of %s is within 10 % of what is billed',
  (_, turns) => {
    it('by the built-in model', async () => {
      const model = 'local/extract-1';
      const { billing } = svcOf(await routed.chat({ model, messages: turns as unknown as JsonObject[] }));
      expectNear((await estimated(model, turns)).prompt, Number(billing.usage['prompt_tokens']));
    });

    it('by a provider of OpenAI’s kind', async () => {
      routed.upstream.play({ usage: { prompt: countedByOpenAi(turns), completion: 0 }, pieces: [] });
      const { billing } = svcOf(await routed.chat({ messages: turns as unknown as JsonObject[] }));
      const { prompt, min } = await estimated(MODEL, turns);
      expectNear(prompt, Number(billing.usage['prompt_tokens']));
      expectNear(Number(min), Number(billing.charge.nano));
    });
  },
);

/** What the providers' own documentation says that they counted, and the format of Llama 3 as its authors publish it. */
it.each([
  // docs.anthropic.com, “Token counting”.
  ['anthropic/claude-sonnet-4-5', [system('You are a scientist'), user('Hello, Claude')], 14],
  // <|begin_of_text|>, header and end of one message, header of the answer: 10, and 1 of the text.
  ['ollama/llama3.2', [user('hi')], 11],
] as const)('the estimate for %s is within 10 %% of a count that is known', async (model, turns, counted) => {
  expectNear((await estimated(model, turns)).prompt, counted);
});
