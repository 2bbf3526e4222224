import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callerAccount } from '../../ledger/src/accounts.ts';
import { incident, LOOK, pretty, rows, saidIn, toolTurn } from './compressible.ts';
import { MODEL, type Routed, startRouted, svcOf } from './compute.ts';
import { expectSchema } from './schemas.ts';
import { DATABASES } from './service.ts';

const SYSTEM = { role: 'system', content: 'You keep watch over containers. Answer in one sentence.' };
const ASK = { role: 'user', content: 'Which containers are degraded?' };

interface Told extends JsonObject {
  tokens_before: number;
  tokens_after: number;
  lost_cache_tokens: number;
  methods: Record<string, number>;
  note?: string;
  removed: { id: string; removed: number; tokens: number; of: number; unit: string }[];
}

const toldBy = (svc: unknown): Told => (svc as { compression: Told }).compression;

describe.each(DATABASES)('compression over %s', (database) => {
  let routed: Routed;
  beforeAll(async () => {
    routed = await startRouted({ database, explain: true });
  });
  afterAll(() => routed.close());
  beforeEach(() => {
    routed.upstream.requests.length = 0;
    routed.upstream.always({});
  });

  const sent = (index = -1): JsonObject[] =>
    (routed.upstream.requests.at(index)?.body['messages'] ?? []) as JsonObject[];
  const table = pretty(rows(180));
  const asked = [SYSTEM, ASK, ...toolTurn('call_1', table)];

  it.each([
    [
      'where no model takes tools',
      { compression: 'extractive', budget: 0.2, retrieve: true },
      'local/extract-1',
      'accepts tools',
    ],
    ['but not with the tool', { compression: 'extractive', budget: 0.5, retrieve: true }, MODEL, null],
    [
      'where a cache would begin later',
      { compression: 'extractive', budget: 0.2, retrieve: true },
      MODEL,
      'provider’s cache',
    ],
    [
      'where nothing more may be cut',
      { compression: 'extractive', budget: 0.01 },
      'openai/gpt-3.5-turbo',
      'nothing more of it',
    ],
    ['nor for a budget that is met', { compression: 'extractive', budget: 0.9 }, MODEL, null],
  ])('says why more is left than the budget: %s', async (title, svc, model, why) => {
    const messages = [
      SYSTEM,
      { role: 'user', content: `${title}?` },
      ...toolTurn('call_1', pretty(rows(60))),
    ];
    const reply = await routed.chat({ model, messages, svc });
    expect(reply.status, reply.text).toBe(200);
    const told = toldBy(svcOf(reply));
    expect(told.note ?? '').toContain(why ?? '');
    expect(told.note === undefined).toBe(why === null);
    expect(told.tokens_after <= told.tokens_before * svc.budget).toBe(why === null);
  });

  it('shortens the results of one turn together where none of them would pay alone, and the same in the next call', async () => {
    const model = 'openai/gpt-5';
    const turns = Array.from({ length: 24 }, (_, i) => toolTurn(`call_${i}`, pretty(rows(2, i * 2)))).flat();
    const calls = turns.flatMap(({ tool_calls: calls }) => (calls ?? []) as JsonObject[]);
    const question = { role: 'user', content: 'It rained again in the harbour that day. '.repeat(200) };
    const called = [{ role: 'assistant', content: null, tool_calls: calls }];
    const messages = [SYSTEM, question, ...called, ...turns.filter(({ role }) => role === 'tool')];
    const apart = toldBy(svcOf(await routed.chat({ model, messages: [SYSTEM, question, ...turns] })));
    expect(apart).toMatchObject({ tokens_after: apart.tokens_before, note: expect.any(String) });
    const told = toldBy(svcOf(await routed.chat({ model, messages })));
    expect(told.note).toBeUndefined();
    expect(told.tokens_after).toBeLessThan(told.tokens_before);
    const before = sent();
    expect(before.slice(3).every((one, i) => saidIn(one).length < saidIn(messages[3 + i]).length)).toBe(true);
    await routed.chat({
      model,
      messages: [...messages, { role: 'assistant', content: 'So.' }, { role: 'user', content: 'And?' }],
    });
    expect(sent().slice(0, before.length)).toEqual(before);
  });

  it('shortens what can be undone without being asked, and says by how much', async () => {
    routed.upstream.always({ usage: { prompt: 2_000, completion: 5 } });
    const reply = await routed.chat({ messages: asked });
    expect(reply.status, reply.text).toBe(200);
    const { billing, receipt } = svcOf(reply);
    const told = toldBy(svcOf(reply));
    expect(told).toMatchObject({ tier: 'lossless', tokenizer: 'o200k_base', estimate: false, removed: [] });
    expect(told.tokens_after).toBeLessThan(told.tokens_before / 2);
    const saved = told.tokens_before - told.tokens_after;
    expect(Object.values(told.methods).reduce((a, b) => a + b, 0)).toBe(saved);
    expect(sent().slice(0, 3)).toEqual(asked.slice(0, 3));
    expect(saidIn(sent()[3]).length).toBeLessThan(table.length / 2);
    // 2,000 and 5 tokens cost 303,000; each saved one 150, of which a quarter is taken off. A part of a nano-USDC is carried over.
    expect(Math.abs(Number(billing.charge.nano) - (303_000 + saved * 112.5))).toBeLessThan(1);
    expect(billing).toMatchObject({
      provider_cost: { nano: '303000' },
      saving: { nano: String(saved * 150) },
      share: { percent: 25, tier: 'unregistered' },
    });
    expect(receipt.call).toMatchObject({
      tokens_before: told.tokens_before,
      tokens_after: told.tokens_after,
      saving: String((saved * 150) / 1e9),
    });
    expectSchema('envelope', receipt);
    await routed.expectBalanced();
  });

  it('tells the same at the end of a stream', async () => {
    const { svc } = await routed.stream({ messages: asked });
    expect(toldBy(svc).tokens_after).toBeLessThan(toldBy(svc).tokens_before / 2);
  });

  it('leaves alone what is off, and what has nothing to gain', async () => {
    routed.upstream.play({ usage: { prompt: 2_900, completion: 8 } });
    const off = await routed.chat({ messages: asked, svc: { compression: 'off' } });
    expect(sent()).toEqual(asked);
    expect(toldBy(svcOf(off))).toEqual({
      tier: 'off',
      tokenizer: 'provider',
      estimate: false,
      tokens_before: 2_900,
      tokens_after: 2_900,
      methods: {},
      lost_cache_tokens: 0,
      removed: [],
    });
    const short = await routed.chat();
    expect(toldBy(svcOf(short))).toMatchObject({ tier: 'lossless', methods: {} });
    expect(svcOf(short).receipt.call).not.toHaveProperty('tokens_before');
  });

  it('leaves a prompt below the size of a provider’s cache as it is, where that is worth more', async () => {
    const messages = [SYSTEM, ASK, ...toolTurn('call_1', pretty(rows(8)))];
    const told = toldBy(svcOf(await routed.chat({ messages })));
    expect(sent()).toEqual(messages);
    expect(told).toMatchObject({ methods: {}, note: expect.stringContaining('Some messages were cut less') });
    expect(told.tokens_after).toBe(told.tokens_before);
    // Of this one reading the cache costs as much as sending.
    const other = toldBy(svcOf(await routed.chat({ model: 'openai/gpt-3.5-turbo', messages })));
    expect(other.tokens_after).toBeLessThan(other.tokens_before / 2);
    expect(other).not.toHaveProperty('note');
  });

  it.each([
    ['svc.compression', { compression: 'zip' }],
    ['svc.budget', { compression: 'extractive', budget: 0 }],
    ['svc.budget', { compression: 'extractive', budget: -0.5 }],
    ['svc.budget', { compression: 'extractive', budget: 1.5 }],
    ['svc.budget', { budget: 'half' }],
    ['svc.retrieve', { retrieve: 'yes' }],
  ])('refuses a bad %s', async (field, svc) => {
    const reply = await routed.chat({ svc });
    expect(reply.json).toMatchObject({ status: 400, field, error: { param: field } });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it.each([
    ['n', { n: 2 }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['tools', { tools: [{ type: 'function', function: { name: 'svc_retrieve' } }] }],
  ])('refuses svc.retrieve beside %s', async (field, body) => {
    const reply = await routed.chat({ ...body, svc: { retrieve: true } });
    expect(reply.json).toMatchObject({ status: 400, code: 'invalid_request', field });
  });

  it('sends each call’s prompt as the beginning of the next one’s, in a session of ten', async () => {
    const messages: JsonObject[] = [SYSTEM];
    let before = '';
    for (let turn = 0; turn < 10; turn += 1) {
      messages.push({ role: 'user', content: `Question ${turn}: what changed?` });
      messages.push(...toolTurn(`call_${turn}`, turn % 3 === 2 ? table : pretty(rows(20, turn * 50))));
      const svc = {
        compression: ['lossless', 'lossless', 'extractive'][Math.floor(turn / 4)] ?? 'extractive',
      };
      const reply = await routed.chat({ messages, tools: [LOOK], svc: { ...svc, budget: 0.3 } });
      expect(reply.status, reply.text).toBe(200);
      const text = JSON.stringify(sent()).slice(0, -1);
      expect(text.startsWith(before)).toBe(true);
      before = text;
      messages.push({ role: 'assistant', content: `Answer ${turn}.` });
    }
    expect(before.length).toBeLessThan(JSON.stringify(messages).length / 2);
  });

  it('keeps what went out as it came while compression was off', async () => {
    const first = [...asked];
    first[0] = { ...SYSTEM, content: 'A conversation of its own.' };
    await routed.chat({ messages: first, svc: { compression: 'off' } });
    const more = [
      ...first,
      { role: 'assistant', content: 'Nine.' },
      ASK,
      ...toolTurn('call_2', pretty(rows(40, 99))),
    ];
    await routed.chat({ messages: more });
    expect(sent().slice(0, first.length)).toEqual(first);
    expect(saidIn(sent().at(-1)).length).toBeLessThan(pretty(rows(40, 99)).length / 2);
  });

  it('cuts only repetition where nothing can be given back and no budget is given', async () => {
    const log = incident(300, 'X');
    const messages = [SYSTEM, ASK, ...toolTurn('call_1', `${log}\n\n${log}`)];
    const svc = { compression: 'extractive' };
    const told = toldBy(svcOf(await routed.chat({ messages, svc })));
    expect(told.removed).toHaveLength(1);
    expect(told.note).toContain('neither svc.budget nor svc.retrieve');
    const content = saidIn(sent().at(-1));
    for (const line of log.split('\n')) expect(content).toContain(line);
    expect(content.length).toBeLessThan(log.length * 1.1);
    expect(routed.upstream.requests.at(-1)?.body).not.toHaveProperty('tools');
  });

  it('cuts to a budget that is given, says that the model cannot ask for it, and stays with it', async () => {
    const log = incident(300, 'X');
    const messages = [
      SYSTEM,
      { role: 'user', content: 'What is the maintenance code?' },
      ...toolTurn('c', log),
    ];
    const svc = { compression: 'extractive', budget: 0.5 };
    const reply = await routed.chat({ messages, svc });
    const told = toldBy(svcOf(reply));
    expect(told.tokens_after).toBeLessThanOrEqual(told.tokens_before / 2);
    expect(told.tokens_after).toBeGreaterThan(told.tokens_before * 0.45);
    expect(told.note).toMatch(
      /^What `removed` lists is missing from the prompt, and the model cannot ask for it/,
    );
    const [{ id, removed, of, unit } = {}] = told.removed;
    expect(saidIn(sent().at(-1))).toContain(`[cut ${id}: ${removed} of ${of} ${unit} left out, at each …]`);
    expect(saidIn(sent().at(-1))).toContain('the maintenance code is X');
    expect(routed.upstream.requests.at(-1)?.body).not.toHaveProperty('tools');
    const cut = sent();
    const more = [
      ...messages,
      { role: 'assistant', content: 'X.' },
      { role: 'user', content: 'And request 7919?' },
    ];
    for (const later of [{}, { compression: 'extractive' }, svc, { retrieve: true }]) {
      const kept = toldBy(svcOf(await routed.chat({ messages: more, svc: later })));
      expect(sent().slice(0, cut.length)).toEqual(cut);
      expect(kept).toMatchObject({ removed: told.removed, lost_cache_tokens: 0 });
      expect(kept.note?.includes('cannot ask') ?? false).toBe(!('retrieve' in later));
    }
    await routed.chat({ messages: more, svc: { compression: 'off' } });
    expect(sent()).toEqual(more);
  });

  it('gives back what was cut for a tool that is withdrawn, unless a budget allows to be without it', async () => {
    const messages = [
      { role: 'user', content: 'What is the maintenance code?' },
      ...toolTurn('c', incident(300, 'Z')),
    ];
    const svc = { compression: 'extractive', budget: 0.5 };
    await routed.chat({ messages, svc: { ...svc, retrieve: true } });
    const cut = sent();
    const more = [
      ...messages,
      { role: 'assistant', content: 'Z.' },
      { role: 'user', content: 'And request 7919?' },
    ];
    await routed.chat({ messages: more, svc: { compression: 'extractive' } });
    expect(sent()).toEqual(more);
    await routed.chat({ messages: more, svc });
    expect(sent().slice(0, cut.length)).toEqual(messages);
  });

  it('gives each budget its own cut, and a conversation that goes on the same one', async () => {
    const messages = [
      SYSTEM,
      { role: 'user', content: 'What is the code?' },
      ...toolTurn('c', incident(600, 'Y-1')),
    ];
    const allowing = (budget: number) => ({ compression: 'extractive', retrieve: true, budget });
    const half = toldBy(svcOf(await routed.chat({ messages, svc: allowing(0.5) })));
    const tenth = toldBy(svcOf(await routed.chat({ messages, svc: allowing(0.1) })));
    expect(half.tokens_after).toBeLessThanOrEqual(half.tokens_before / 2);
    expect(tenth.tokens_after).toBeLessThanOrEqual(tenth.tokens_before / 10);
    const cut = JSON.stringify(sent()).slice(0, -1);
    const more = [
      ...messages,
      { role: 'assistant', content: 'Y-1.' },
      { role: 'user', content: 'And request 7919?' },
    ];
    const on = toldBy(svcOf(await routed.chat({ messages: more, svc: allowing(0.9) })));
    expect(JSON.stringify(sent()).startsWith(cut)).toBe(true);
    expect(on.removed).toEqual(tenth.removed);
    expect(on.methods).toEqual({ remembered: expect.any(Number) });
    const strict = toldBy(svcOf(await routed.chat({ messages: more })));
    expect(strict.removed).toEqual([]);
    expect(sent()).toEqual(more);
  });

  it('cuts a prompt that no model reads, unless that is off', async () => {
    const messages = [
      SYSTEM,
      { role: 'user', content: 'What is the code?' },
      ...toolTurn('c', incident(8_000, 'Z-9')),
    ];
    const off = await routed.chat({ messages, svc: { compression: 'off' } });
    expect(off.json).toMatchObject({ status: 400, code: 'context_too_long' });
    expect(off.json['detail']).toContain('svc.compression is off');
    const without = await routed.chat({ messages });
    expect(without.json).toMatchObject({ status: 400, code: 'context_too_long' });
    expect(without.json['detail']).toContain('svc.retrieve');
    const reply = await routed.chat({ messages, svc: { retrieve: true } });
    expect(reply.status, reply.text.slice(0, 500)).toBe(200);
    const told = toldBy(svcOf(reply));
    expect(told['note']).toContain('No model here has a context of that size');
    expect(told.tokens_after).toBeLessThan(128_000);
    expect(told.tokens_after).toBeGreaterThan(110_000);
    expect(saidIn(sent().at(-1))).toContain('Z-9');
  });

  it('cuts a prompt that a named model does not read to fit, and says what the model cannot ask for', async () => {
    const messages = [
      SYSTEM,
      { role: 'user', content: 'What is the code?' },
      ...toolTurn('c', incident(600, 'Z-8')),
    ];
    const model = 'openai/gpt-3.5-turbo';
    const reply = await routed.chat({ model, messages, svc: { compression: 'extractive', budget: 0.99 } });
    expect(reply.status, reply.text.slice(0, 400)).toBe(200);
    const told = toldBy(svcOf(reply));
    expect(told.note).toMatch(/^No model here has a context of that size.* the model cannot ask for it/);
    expect(told.tokens_after).toBeLessThan(16_385);
    expect(saidIn(sent().at(-1))).toContain('Z-8');
    const repeats = await routed.chat({
      model,
      messages,
      svc: { compression: 'extractive', session: 'no budget' },
    });
    expect(repeats.json).toMatchObject({ status: 400, code: 'context_too_long' });
  });

  it('keeps what it cut to fit, call after call, and cuts anew only where that no longer fits', async () => {
    const svc = { retrieve: true, session: 'long' };
    const messages: JsonObject[] = [SYSTEM];
    let before = '';
    let kept = 0;
    const calls = 14;
    for (let turn = 0; turn < calls; turn += 1) {
      messages.push({ role: 'user', content: `What of request ${turn * 7919}?` });
      messages.push(
        ...toolTurn(`call_${turn}`, incident(120, `F-${turn}`).replaceAll('worker', `worker-${turn}`)),
      );
      const reply = await routed.chat({ model: 'openai/gpt-3.5-turbo', max_tokens: 100, messages, svc });
      expect(reply.status, reply.text.slice(0, 400)).toBe(200);
      const text = JSON.stringify(sent()).slice(0, -1);
      if (text.startsWith(before)) kept += 1;
      before = text;
      messages.push({ role: 'assistant', content: `Answer ${turn}.` });
    }
    expect(before).toContain('[cut ');
    expect(kept).toBeGreaterThanOrEqual(calls - 4);
  });

  it('credits a member’s share to its DID, and counts what was saved', async () => {
    const did = 'did:web:saver.example';
    await routed.service.post('/v1/compute/member/register', { did });
    const stats = async (headers = {}) =>
      (await routed.service.get('/v1/compute/compression/stats', headers)).json as {
        service: Told & { calls: number; saved_tokens: number };
        caller: (JsonObject & { calls: number; methods: JsonObject }) | null;
      };
    const before = await stats();
    expect(before.caller).toBeNull();
    await routed.chat({ model: 'local/extract-1' }, { 'x-agent-did': 'did:web:free.example' });
    const unchanged = await stats({ 'x-agent-did': 'did:web:free.example' });
    expect(unchanged.service.calls).toBe(before.service.calls + 1);
    expect(unchanged.caller).toMatchObject({ calls: 1, changed_calls: 0, saved_tokens: 0, methods: {} });
    routed.upstream.always({ usage: { prompt: 2_000, completion: 5 } });
    const reply = await routed.chat({ messages: asked }, { 'x-agent-did': did });
    const told = toldBy(svcOf(reply));
    const saved = told.tokens_before - told.tokens_after;
    const share = BigInt(Math.floor(saved * 150 * 0.35));
    expect((await routed.balance(callerAccount(did))).balance).toBe(share);
    const after = await stats({ 'x-agent-did': did });
    expect(after.service.calls).toBe(before.service.calls + 2);
    expect(after.service.saved_tokens).toBe(before.service.saved_tokens + saved);
    expect(after.caller).toMatchObject({
      subject: did,
      calls: 1,
      changed_calls: 1,
      tokens_before: told.tokens_before,
      tokens_after: told.tokens_after,
      saved_tokens: saved,
      lost_cache_tokens: 0,
      saving: { nano: String(saved * 150) },
      share: { nano: String(share) },
    });
    const methods = Object.entries(told.methods).map(([method, tokens]) => [method, { calls: 1, tokens }]);
    expect(after.caller?.methods).toEqual(Object.fromEntries(methods));
    const usage = await routed.service.get(`/v1/compute/usage/${did}`);
    expect(usage.json['days']).toMatchObject([{ model: MODEL, saved_tokens: saved }]);
    await routed.expectBalanced();
  });

  it('estimates what a call comes to, and remembers nothing of it', async () => {
    const fresh = [{ ...SYSTEM, content: 'Estimated.' }, ...asked.slice(1)];
    const body = {
      model: MODEL,
      messages: fresh,
      max_tokens: 10,
      svc: { compression: 'extractive', budget: 0.9 },
    };
    const { json } = await routed.service.post('/v1/compute/estimate', body);
    const { tokens_before: from, tokens_after: to } = toldBy(json);
    const saved = from - to;
    expect(saved).toBeGreaterThan(100);
    const prompt = Number((json['tokens'] as JsonObject)['prompt']);
    const min = prompt * 150 + saved * 150 - Math.ceil(saved * 37.5);
    expect(json).toMatchObject({
      model: MODEL,
      cost: { min: { nano: String(min) } },
      cashback: {
        saving: { nano: String(saved * 150) },
        expected: { nano: String(Math.floor(saved * 37.5)) },
        as: 'discount',
        percent: 25,
      },
    });
    expect(routed.upstream.requests).toHaveLength(0);
  });
});
