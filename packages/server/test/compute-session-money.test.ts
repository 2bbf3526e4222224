import { tokenizerFor } from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incident, LOOK, pretty, rows, saidIn, toolTurn } from './compressible.ts';
import { type Routed, startRouted, svcOf } from './compute.ts';
import type { Script, UpstreamRequest } from './upstream-script.ts';

const CALLS = 15;
const MINIMUM = 1_024;
const STEP = 128;
/** Its share of a saving is credited, not taken off. */
const MEMBER = 'did:web:agent.example';

/** A provider that keeps every prompt, and reads what it has of one in steps of 128 tokens from 1,024 on. */
function cachingProvider(): (request: UpstreamRequest) => Script {
  const tokenizer = tokenizerFor('gpt-5');
  const count = (text: string): number => tokenizer.count(text);
  const kept: { readonly text: string; readonly tokens: number }[] = [];
  return ({ body }) => {
    const messages = body['messages'] as JsonObject[];
    const tools = JSON.stringify(body['tools']);
    const text = `${tools}${JSON.stringify(messages).slice(0, -1)}`;
    const prompt = messages.reduce(
      (sum, message) => sum + 4 + count(saidIn(message)) + count(JSON.stringify(message['tool_calls'] ?? '')),
      count(tools),
    );
    const held = kept.findLast((one) => text.startsWith(one.text))?.tokens ?? 0;
    kept.push({ text, tokens: prompt });
    const cached = held < MINIMUM ? 0 : Math.floor(held / STEP) * STEP;
    return { usage: { prompt, completion: 20, cached } };
  };
}

/** What tools answer in the calls of an agent: JSON of several sizes, and logs. */
const RESULTS: Readonly<Record<string, (turn: number) => string>> = {
  large: (turn) =>
    turn % 3 === 2 ? incident(40 + turn * 3, `S-${turn}`) : pretty(rows(10 + ((turn * 7) % 19), turn * 50)),
  small: (turn) => pretty(rows(2 + ((turn * 3) % 5), turn * 50)),
};

describe('an agent’s session at a provider that caches in steps', () => {
  let routed: Routed;
  beforeAll(async () => {
    routed = await startRouted();
    await routed.service.post('/v1/compute/member/register', { did: MEMBER });
  });
  afterAll(() => routed.close());

  /** What each call of a session was paid with, in nano-USDC, and the prompts as sent. */
  const play = async (
    model: string,
    name: string,
    resultOf: (turn: number) => string,
    tierOf: (turn: number) => string,
    retrieve = true,
  ) => {
    routed.upstream.requests.length = 0;
    const messages: JsonObject[] = [
      { role: 'system', content: `You watch over containers. Session ${name}.` },
      { role: 'user', content: 'Which containers are degraded, and what of request 7919?' },
    ];
    const paid: bigint[] = [];
    for (let turn = 0; turn < CALLS; turn += 1) {
      messages.push(...toolTurn(`call_${turn}`, resultOf(turn)));
      const svc = { compression: tierOf(turn), budget: 0.2, retrieve };
      const reply = await routed.chat({ model, messages, tools: [LOOK], svc }, { 'x-agent-did': MEMBER });
      expect(reply.status, reply.text).toBe(200);
      const { charge, share } = svcOf(reply).billing as unknown as {
        charge: { nano: string };
        share: { nano: string };
      };
      paid.push(BigInt(charge.nano) - BigInt(share.nano));
    }
    return { paid, prompts: routed.upstream.requests.map(({ body }) => body['messages'] as JsonObject[]) };
  };

  const lossless = (): string => 'lossless';
  const upAndDown = (turn: number): string => (turn % 6 < 3 ? 'extractive' : 'lossless');
  it.each<[string, string, string, (turn: number) => string, boolean?]>([
    ['a tenth', 'openai/gpt-5', 'large', lossless],
    ['a tenth, of small results', 'openai/gpt-5', 'small', lossless],
    ['a quarter', 'openai/gpt-4.1', 'large', lossless],
    ['a quarter, of small results', 'openai/gpt-4.1', 'small', lossless],
    ['a half, cut', 'openai/gpt-4o-mini', 'large', () => 'extractive'],
    ['a tenth, cut and no longer', 'openai/gpt-5', 'large', upAndDown],
    ['a tenth, cut for good and no longer', 'openai/gpt-5', 'large', upAndDown, false],
    ['a tenth, off at first', 'openai/gpt-5', 'large', (i: number) => (i < 4 ? 'off' : 'lossless')],
  ])(
    'costs no more than uncompressed, wherever it ends: at %s',
    async (title, model, size, tierOf, retrieve = true) => {
      const resultOf = RESULTS[size] ?? String;
      routed.upstream.always(cachingProvider());
      const off = await play(model, `${title} A`, resultOf, () => 'off');
      const on = await play(model, `${title} B`, resultOf, tierOf, retrieve);
      let saved = 0n;
      for (const [turn, paid] of on.paid.entries()) {
        saved += (off.paid[turn] ?? 0n) - paid;
        expect(saved).toBeGreaterThanOrEqual(0n);
      }
      for (const [turn, prompt] of on.prompts.entries())
        expect(on.prompts[turn + 1]?.slice(0, prompt.length) ?? prompt).toEqual(prompt);
      const length = (messages: readonly JsonObject[]): number =>
        messages.reduce((sum, message) => sum + saidIn(message).length, 0);
      expect(length(on.prompts.at(-1) ?? [])).toBeLessThanOrEqual(length(off.prompts.at(-1) ?? []));
    },
  );
});
