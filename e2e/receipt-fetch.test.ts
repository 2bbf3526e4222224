import Anthropic from '@anthropic-ai/sdk';
import { createSigner, generateSecretKey, type JsonObject } from '@tallystick/core';
import {
  type CallReport,
  createClient,
  memoryTrustStore,
  openSession,
  receiptFetch,
  verifyCall,
  verifySession,
} from '@tallystick/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { CLAUDE, type Front, MODEL, STRANGE_KEY, serveFront } from './clients.ts';

const said = defaultPieces.join('');
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say it.' }];
const params = { model: MODEL, messages };

let front: Front;
let client: OpenAI;
let reports: CallReport[] = [];
/** Resolves with the first report of the test: a client that leaves a body does not wait for it. */
let first = Promise.withResolvers<CallReport>();
const onCall = (report: CallReport): void => {
  reports.push(report);
  first.resolve(report);
};
beforeAll(async () => {
  front = await serveFront();
  client = clientWith(receiptFetch({ trust: front.trust, onCall }));
});
beforeEach(() => {
  reports = [];
  first = Promise.withResolvers();
});
afterAll(() => front.close());

const clientWith = (fetch: NonNullable<ConstructorParameters<typeof OpenAI>[0]>['fetch']): OpenAI =>
  new OpenAI({ baseURL: front.baseURL, apiKey: STRANGE_KEY, maxRetries: 0, fetch });

/** The checks of the only report that are not true, as `name: detail`. */
function openChecks(): string[] {
  expect(reports).toHaveLength(1);
  const { verdict } = reports[0]!;
  return verdict.checks.filter(({ ok }) => ok === false).map(({ name, detail }) => `${name}: ${detail}`);
}

describe('receiptFetch under the openai client', () => {
  it('reports an answer in one piece before the call returns', async () => {
    const answer = await client.chat.completions.create(params);
    expect(answer.choices[0]?.message.content).toBe(said);
    expect(openChecks()).toEqual([]);
    const { verdict, ...report } = reports[0]!;
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
    expect(report).toMatchObject({ protocol: 'chat', trustError: null });
    expect(report.receipt).toEqual((answer as unknown as { svc: { receipt: object } }).svc.receipt);
    expect(report.receiptId).toBe(verdict.receipt_id);
    expect(await verifyCall({ request: params, response: answer, trust: front.trust })).toMatchObject({
      valid: true,
    });
  });

  it('reports a stream, whose every chunk the reader gets', async () => {
    const stream = await client.chat.completions.create({ ...params, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(said);
    expect(openChecks()).toEqual([]);
    expect(reports[0]).toMatchObject({
      protocol: 'chat',
      receipt: { call: { stream: true, complete: true } },
      verdict: { valid: true, issuer: { trusted: true } },
    });
  });

  it('reports a stream that the provider broke off, whose receipt the service has', async () => {
    front.upstream.play({ fault: { kind: 'cut', after: 3 } });
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow('provider');
    // This client stops reading at the error, so the chunk with the receipt does not pass.
    const { receiptId, receipt: passed, call, protocol, verdict } = await first.promise;
    expect(verdict.checks[0]).toMatchObject({ name: 'receipt', ok: false });
    expect({ passed, protocol }).toEqual({ passed: null, protocol: 'chat' });
    const service = createClient({ baseUrl: front.url });
    // The call is billed after its client has left.
    const { receipt } = await vi.waitFor(() => service.getReceipt(receiptId), { timeout: 60_000 });
    expect(receipt).toMatchObject({ call: { stream: true, complete: false } });
    expect(await verifyCall({ ...call, receipt, trust: front.trust })).toMatchObject({ valid: true });
  });

  it('reports a stream that the reader left', async () => {
    front.upstream.play({ everyMs: 20 });
    const stream = await client.chat.completions.create({ ...params, stream: true });
    for await (const _ of stream) break;
    const { receiptId, ...report } = await first.promise;
    expect(report).toMatchObject({ receipt: null, protocol: 'chat', verdict: { valid: false } });
    expect(receiptId).toMatch(/^r_env_/);
  });

  it('reports parallel calls each with its own request', async () => {
    const cities = ['Zürich', 'Oslo', 'Lima'];
    await Promise.all(
      cities.map((content) =>
        client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] }),
      ),
    );
    expect(reports.map(({ verdict }) => verdict.valid)).toEqual([true, true, true]);
    expect(new Set(reports.map(({ receiptId }) => receiptId)).size).toBe(3);
  });

  it('refers to each valid receipt in a session, in the order in which answers ended', async () => {
    const lines: string[] = [];
    const session = await openSession({
      key: await createSigner(generateSecretKey()),
      keep: (line) => lines.push(line),
    });
    const recorded = clientWith(receiptFetch({ trust: front.trust, session, onCall }));
    await recorded.chat.completions.create(params);
    await Array.fromAsync(await recorded.chat.completions.create({ ...params, stream: true }));
    await expect(recorded.chat.completions.create({ ...params, model: 'no-such-model' })).rejects.toThrow(
      '404',
    );
    await session.close();
    const file = lines.map((line) => `${line}\n`).join('');
    const referenced = reports.map(({ receipt }) => receipt as JsonObject);
    const verdict = await verifySession(file, { now: Date.now(), referenced });
    expect(verdict).toMatchObject({ valid: true, state: 'closed', references: { valid: 2, not_given: 0 } });
    expect(verdict.entries.slice(1, -1).map(({ call }) => 'receipt_id' in call && call.receipt_id)).toEqual(
      reports.map(({ receiptId }) => receiptId),
    );
  });

  it('does not report a refusal, which the client reads as always', async () => {
    const wrong = client.chat.completions.create({ ...params, model: 'no-such-model' });
    await expect(wrong).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    expect(reports).toEqual([]);
  });
});

describe.each([MODEL, CLAUDE])('receiptFetch under @anthropic-ai/sdk, with %s', (model) => {
  const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Say it.' }] };
  let anthropic: Anthropic;
  beforeAll(() => {
    const fetch = receiptFetch({ trust: front.trust, onCall });
    anthropic = new Anthropic({ baseURL: front.baseURL, apiKey: STRANGE_KEY, maxRetries: 0, fetch });
  });

  it('reports an answer in one piece', async () => {
    await anthropic.messages.create(asked);
    expect(openChecks()).toEqual([]);
    expect(reports[0]).toMatchObject({
      protocol: 'messages',
      verdict: { valid: true, issuer: { trusted: true } },
    });
  });

  it('reports a stream', async () => {
    const message = await anthropic.messages.stream(asked).finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: said }]);
    expect((await first.promise).verdict).toMatchObject({ valid: true, protocol: 'messages' });
    expect(openChecks()).toEqual([]);
  });

  it('reports a stream that the provider broke off, with the receipt in its error', async () => {
    // After the first text: a message that was only opened is no answer.
    front.upstream.play({ fault: { kind: 'cut', after: 4 } });
    await expect(anthropic.messages.stream(asked).finalMessage()).rejects.toThrow('api_error');
    expect(await first.promise).toMatchObject({
      protocol: 'messages',
      receipt: { call: { complete: false } },
      verdict: { valid: true },
    });
  });
});

describe('receiptFetch under the openai client, for responses', () => {
  const asked = { model: MODEL, input: 'Say it.', store: false };

  it('reports an answer in one piece, and a stream', async () => {
    await client.responses.create(asked);
    const events = await Array.fromAsync(await client.responses.create({ ...asked, stream: true }));
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(reports).toMatchObject([
      { protocol: 'responses', verdict: { valid: true, issuer: { trusted: true } } },
      { protocol: 'responses', verdict: { valid: true, issuer: { trusted: true } } },
    ]);
  });

  it('reports a stream that the provider broke off, with the receipt in its last event, to a reader of all of it', async () => {
    front.upstream.play({ fault: { kind: 'cut', after: 3 } });
    const send = receiptFetch({ trust: front.trust, onCall });
    const answer = await send(`${front.baseURL}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, stream: true }),
    });
    expect(await answer.text()).toContain('event: response.failed');
    expect(openChecks()).toEqual([]);
    expect(reports[0]).toMatchObject({
      protocol: 'responses',
      receipt: { call: { complete: false } },
      verdict: { valid: true },
    });
  });
});

describe('receiptFetch under the openai client, for completions', () => {
  it('reports an answer in one piece, and a stream', async () => {
    const asked = { model: MODEL, prompt: 'Say it.' };
    await client.completions.create(asked);
    await Array.fromAsync(await client.completions.create({ ...asked, stream: true }));
    expect(reports).toMatchObject([
      { protocol: 'completions', verdict: { valid: true } },
      { protocol: 'completions', verdict: { valid: true } },
    ]);
  });
});

describe('receiptFetch', () => {
  /** A `fetch` that changes the answer's bytes on the way. */
  const changing =
    (from: string, to: string): typeof globalThis.fetch =>
    async (input, init) => {
      const { status, headers, body } = await fetch(input, init);
      const text = await new Response(body).text();
      expect(text).toContain(from);
      return new Response(text.replace(from, to), { status, headers });
    };

  it('finds an answer that was changed on the way, and a trust store that is empty', async () => {
    const changed = clientWith(
      receiptFetch({
        fetch: changing('Grüße', 'Flüche'),
        trust: memoryTrustStore(),
        onCall,
      }),
    );
    await Array.fromAsync(await changed.chat.completions.create({ ...params, stream: true }));
    expect(openChecks()).toEqual([
      expect.stringMatching(/^response: The receipt covers another answer: the hash of this one is sha256:/),
    ]);
    expect(reports[0]).toMatchObject({
      trustError: { code: 'trust_unavailable' },
      verdict: { valid: false },
    });
  });

  it('reports a stream with an error to a reader of all of it with its receipt', async () => {
    front.upstream.play({ fault: { kind: 'cut', after: 3 } });
    const send = receiptFetch({ trust: front.trust, onCall });
    const answer = await send(`${front.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...params, stream: true }),
    });
    expect(await answer.text()).toContain('data: {"error":');
    expect(openChecks()).toEqual([]);
    expect(reports[0]).toMatchObject({ receipt: { call: { complete: false } }, verdict: { valid: true } });
  });

  it('lets onCall refuse an answer', async () => {
    const refusing = clientWith(
      receiptFetch({
        fetch: changing('Grüße', 'Flüche'),
        onCall: ({ verdict }) => {
          if (!verdict.valid) throw new Error('not what the receipt covers');
        },
      }),
    );
    await expect(refusing.chat.completions.create(params)).rejects.toThrow('not what the receipt covers');
  });

  it('takes a Request, and bytes as a body', async () => {
    const send = receiptFetch({ onCall });
    const url = `${front.baseURL}/chat/completions`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify(params);
    const answers = [
      await send(new Request(url, { ...init, body })),
      await send(new URL(url), { ...init, body: new TextEncoder().encode(body) }),
    ];
    for (const answer of answers) {
      expect(answer.url).toBe(url);
      expect(await answer.json()).toMatchObject({ object: 'chat.completion' });
    }
    const ofRequest = reports.map(({ verdict }) => verdict.checks.find(({ name }) => name === 'request')?.ok);
    expect(ofRequest).toEqual([true, true]);
  });

  it('compares a Blob and any Request, and finds no call valid whose request nobody can compare', async () => {
    const send = receiptFetch({ trust: front.trust, onCall });
    const url = `${front.baseURL}/chat/completions`;
    const body = JSON.stringify(params);
    const json = { 'content-type': 'application/json' };
    const stream = new Blob([body]).stream();
    const sent = [
      await send(url, { method: 'POST', headers: json, body: new Blob([body]) }),
      await send(new Request(url, { method: 'POST', headers: json, body: new Blob([body]) })),
      await send(url, { method: 'POST', headers: json, body: stream, duplex: 'half' } as RequestInit),
    ];
    for (const answer of sent) await answer.text();
    expect(reports.map(({ verdict }) => verdict.valid)).toEqual([true, true, false]);
    expect(reports[2]?.verdict.checks).toContainEqual({
      name: 'request',
      ok: false,
      detail: 'The request was sent as a stream or a form, and could not be compared.',
    });
  });
});
