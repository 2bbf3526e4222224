import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../catalogue/open.ts';
import { createRouter } from '../router/router.ts';
import { SharedPins } from '../router/sessions.ts';
import { chatRequestSchema, readChatRequest } from './chat-request.ts';
import type { Compressor } from './compressor-interface.ts';
import { routeChat } from './route.ts';
import { countPrompt } from './token-count.ts';

const { catalogue } = openCatalogue({ OPENAI_API_KEY: 'x' });
const router = createRouter(catalogue, { rest: () => null });
/** Sends everything as it came. */
const compressor: Compressor = {
  compress: ({ body }) => ({ body, compression: null, note: null }),
  excerpt: async () => ({ text: '', given: [] }),
  waiting: () => 0,
  close: async () => {},
};
const pins = new SharedPins({ recall: async () => new Map(), remember: async () => new Map() }, Date.now);
const WORDS = 'one word after the other, '.repeat(1_700);

/** How many tokens the decision was made on, beside what they count. */
async function decided(request: object) {
  const checked = chatRequestSchema.parse({ messages: [{ role: 'user', content: WORDS }], ...request });
  const context = { compressor, router, catalogue, experiments: {}, pins } as Parameters<typeof routeChat>[0];
  const { decision, bound, prompt } = await routeChat(context, readChatRequest(checked, catalogue), {
    name: 'caller:a',
    spenders: [],
    subject: 'a',
    key: null,
  });
  const { prompt_tokens: tokens } = decision.explanation['inputs'] as { prompt_tokens: number };
  return { tokens, bound, counted: await countPrompt(prompt, 'o200k'), model: decision.model };
}

describe('routing a prompt that the smallest model might not take', () => {
  it('decides on an estimate where the models that are chosen take it anyway', async () => {
    const { tokens, bound, model } = await decided({});
    expect(bound).toBeLessThan(model.context);
    expect(tokens).toBe(Math.ceil(bound / 4));
  });

  it('counts where the chosen model might not take it', async () => {
    const { tokens, bound, counted, model } = await decided({ model: 'local/extract-1' });
    expect(bound).toBeGreaterThan(model.context);
    expect(tokens).toBe(counted);
  });

  it('counts what an estimate finds too long', async () => {
    const spaced = `${' '.repeat(140_000)}?`;
    const { tokens, counted } = await decided({
      model: 'local/extract-1',
      messages: [{ role: 'user', content: spaced }],
    });
    expect(tokens).toBe(counted);
  });

  it('counts for a session', async () => {
    const { tokens, counted } = await decided({ svc: { session: 's' } });
    expect(tokens).toBe(counted);
  });
});
