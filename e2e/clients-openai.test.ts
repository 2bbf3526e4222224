import OpenAI, {
  APIError,
  APIUserAbortError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { expectReceipt, type Front, hashOf, MODEL, STRANGE_KEY, serveFront, streamed } from './clients.ts';

const said = defaultPieces.join('');
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say it.' }];
const svcOf = (answer: object): unknown => (answer as { svc?: unknown }).svc;

let front: Front;
let client: OpenAI;
beforeAll(async () => {
  front = await serveFront();
  client = new OpenAI({ baseURL: front.baseURL, apiKey: STRANGE_KEY });
});
afterAll(() => front.close());

describe('completions', () => {
  it('in one piece', async () => {
    const params = { model: MODEL, prompt: 'Say it.', max_tokens: 50 };
    const answer = await client.completions.create(params);
    expect(answer.choices[0]?.text).toBe(said);
    await expectReceipt(front, svcOf(answer), { request: hashOf(params), response: hashOf(answer) });
  });

  it('streamed', async () => {
    const params = { model: MODEL, prompt: 'Say it.', stream: true } as const;
    const chunks = await Array.fromAsync(await client.completions.create(params));
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(said);
    const { svc, response } = streamed(chunks);
    await expectReceipt(front, svc, { request: hashOf(params), response });
  });

  it('refused by name', async () => {
    const refused = client.completions.create({ model: MODEL, prompt: 'Say it.', echo: true });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'echo' });
  });
});

describe('chat', () => {
  it('in one piece', async () => {
    const params = { model: MODEL, messages, temperature: 0.2 };
    const answer = await client.chat.completions.create(params);
    expect(answer.choices[0]?.message.content).toBe(said);
    expect(answer.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 });
    const { billing } = await expectReceipt(front, svcOf(answer), {
      request: hashOf(params),
      response: hashOf(answer),
    });
    expect(billing.charge.nano).toBe('6300');
  });

  it('streamed, with the usage where it is asked for', async () => {
    const params = { model: MODEL, messages, stream: true, stream_options: { include_usage: true } } as const;
    const chunks = await Array.fromAsync(await client.chat.completions.create(params));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(said);
    expect(chunks.find(({ usage }) => usage)?.usage).toMatchObject({ total_tokens: 20 });
    const { svc, response } = streamed(chunks);
    const { receipt } = await expectReceipt(front, svc, { request: hashOf(params), response });
    expect(receipt.call).toMatchObject({ stream: true, complete: true, completion_tokens: 8 });
  });

  it('streamed, gathered by the client’s own helper', async () => {
    const runner = client.chat.completions.stream({ model: MODEL, messages });
    const seen: string[] = [];
    runner.on('content', (delta) => seen.push(delta));
    const answer = await runner.finalChatCompletion();
    expect(seen.join('')).toBe(said);
    expect(answer.choices[0]?.message.content).toBe(said);
    expect(svcOf(answer)).toMatchObject({ receipt: { call: { complete: true } } });
  });

  it('with several choices', async () => {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages, n: 3 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, said],
      [1, said],
      [2, said],
    ]);
  });

  it('as JSON, by a schema', async () => {
    front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
    const answer = await client.chat.completions.parse({
      model: MODEL,
      messages,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', strict: true, schema: { type: 'object' } },
      },
    });
    expect(answer.choices[0]?.message.parsed).toEqual({ city: 'Zürich' });
    expect(front.upstream.requests.at(-1)?.body['response_format']).toMatchObject({ type: 'json_schema' });
  });

  it('routed, where no model is named', async () => {
    const answer = await client.chat.completions.create({ model: 'auto', messages });
    expect(svcOf(answer)).toMatchObject({ receipt: { call: { requested_model: 'auto' } } });
  });
});

describe('tools', () => {
  const pieces = ['{"ci', 'ty":"Zü', 'rich"}'];
  const toolCalls = [{ id: 'call_1', name: 'weather', pieces }];
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tools: OpenAI.ChatCompletionFunctionTool[] = [
    { type: 'function', function: { name: 'weather', parameters } },
  ];

  it('called, answered, and the answer used', async () => {
    front.upstream.play({ toolCalls }, { pieces: ['It is 9 °C.'] });
    const first = await client.chat.completions.create({ model: MODEL, messages, tools });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const [call] = choice?.message.tool_calls ?? [];
    expect(call).toMatchObject({ id: 'call_1', function: { name: 'weather', arguments: pieces.join('') } });
    const result: OpenAI.ChatCompletionToolMessageParam = {
      role: 'tool',
      tool_call_id: 'call_1',
      content: '{"celsius":9}',
    };
    const asked = choice === undefined ? [] : [choice.message];
    const params = { model: MODEL, messages: [...messages, ...asked, result], tools };
    const second = await client.chat.completions.create(params);
    expect(second.choices[0]?.message.content).toBe('It is 9 °C.');
    expect(front.upstream.requests.at(-1)?.body['messages']).toEqual(params.messages);
    await expectReceipt(front, svcOf(second), { request: hashOf(params), response: hashOf(second) });
  });

  it('run by the client’s own helper, over streams', async () => {
    front.upstream.play({ toolCalls }, { pieces: ['It is ', '9 °C.'] });
    const asked: string[] = [];
    const weather = (city: { city: string }): string => {
      asked.push(city.city);
      return '9';
    };
    const runner = client.chat.completions.runTools({
      model: MODEL,
      messages,
      stream: true,
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: '', parameters, parse: JSON.parse, function: weather },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is 9 °C.');
    expect(asked).toEqual(['Zürich']);
  });
});

describe('embeddings', () => {
  it('of the upstream', async () => {
    const params = { model: 'text-embedding-3-small', input: ['a', 'b'] };
    const answer = await client.embeddings.create(params);
    expect(answer.data.map(({ embedding }) => embedding)).toEqual([
      [0.5, -0.25, 0.125],
      [0.5, -0.25, 0.125],
    ]);
    expect(answer.usage.prompt_tokens).toBe(5);
  });

  it('with a receipt for what was sent and what came', async () => {
    const params = { model: 'text-embedding-3-small', input: 'a', encoding_format: 'float' } as const;
    const answer = await client.embeddings.create(params);
    await expectReceipt(front, svcOf(answer), { request: hashOf(params), response: hashOf(answer) });
  });

  it('of tokens, which the built-in model does not take', async () => {
    for (const input of [
      [15339, 1917],
      [[15339], [1917]],
    ]) {
      await client.embeddings.create({ model: 'text-embedding-3-small', input });
      expect(front.upstream.requests.at(-1)?.body['input']).toEqual(input);
      const refused = client.embeddings.create({ model: 'local/embed-512', input });
      await expect(refused).rejects.toThrow(BadRequestError);
    }
  });

  it('of the built-in model', async () => {
    const { data } = await client.embeddings.create({ model: 'local/embed-512', input: ['one', 'two'] });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([512, 512]);
  });
});

describe('models', () => {
  it('are listed', async () => {
    const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
    expect(ids).toContain(`openai/${MODEL}`);
    expect(ids).toContain('local/extract-1');
  });

  it.each([`openai/${MODEL}`, MODEL])('%s is retrieved', async (name) => {
    expect(await client.models.retrieve(name)).toMatchObject({ id: `openai/${MODEL}`, object: 'model' });
  });

  it('one that is not there is not found', async () => {
    await expect(client.models.retrieve('gpt-99')).rejects.toThrow(NotFoundError);
  });
});

describe('a client that stops', () => {
  it('stops the upstream, and is billed for what it got', async () => {
    const pieces = Array.from({ length: 500 }, () => 'word ');
    front.upstream.play({ pieces, everyMs: 50 });
    const hungUp = front.upstream.hungUp();
    const { data: stream, response } = await client.chat.completions
      .create({ model: MODEL, messages, stream: true })
      .withResponse();
    let got = 0;
    let left = 0;
    for await (const chunk of stream) {
      got += chunk.choices[0]?.delta.content ? 1 : 0;
      if (got < 3) continue;
      left = performance.now();
      stream.controller.abort();
    }
    expect((await hungUp) - left).toBeLessThan(12_500);
    const id = response.headers.get('x-receipt-id');
    await expect.poll(async () => (await fetch(`${front.url}/v1/receipt/${id}`)).status).toBe(200);
    const receipt = (await (await fetch(`${front.url}/v1/receipt/${id}`)).json()) as { call: object };
    expect(receipt.call).toMatchObject({ complete: false, usage_estimated: true });
    const { completion_tokens: tokens } = receipt.call as { completion_tokens: number };
    expect(tokens).toBeGreaterThanOrEqual(3);
    expect(tokens).toBeLessThan(100);
  });

  it('before anything came has the client’s own error', async () => {
    front.upstream.play({ fault: { kind: 'silence' } });
    const hungUp = front.upstream.hungUp();
    const before = front.upstream.requests.length;
    const controller = new AbortController();
    const { signal } = controller;
    const call = client.chat.completions
      .create({ model: MODEL, messages }, { signal })
      .catch((thrown: unknown) => thrown);
    await expect.poll(() => front.upstream.requests.length).toBe(before + 1);
    controller.abort();
    expect(await call).toBeInstanceOf(APIUserAbortError);
    await hungUp;
  });
});

describe('errors are those of the client', () => {
  const calling = (params: object): Promise<unknown> =>
    client.chat.completions.create({ model: MODEL, messages, ...params }, { maxRetries: 0 });

  it('BadRequestError for what is no request', async () => {
    const error = await calling({ messages: [] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'messages',
      type: 'invalid_request_error',
      requestID: expect.stringMatching(/^\S{8,}$/),
    });
  });

  it('BadRequestError in the provider’s words', async () => {
    front.upstream.play({ fault: { kind: 'status', status: 400, message: 'No such parameter.' } });
    const error = await calling({}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect((error as Error).message).toContain('No such parameter.');
  });

  it('BadRequestError with OpenAI’s code for a prompt that is too long', async () => {
    // That does not repeat itself, or it would be made to fit.
    const content = Array.from({ length: 50_000 }, (_, index) => `w${index * 7919}`).join(' ');
    const error = await calling({ messages: [{ role: 'user', content }] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'context_length_exceeded' });
  });

  it('NotFoundError for an unknown model', async () => {
    const error = await calling({ model: 'gpt-99' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  it('APIError in a stream whose provider fails', async () => {
    front.upstream.play({ fault: { kind: 'cut', after: 3 } });
    const stream = await client.chat.completions.create({ model: MODEL, messages, stream: true });
    const got: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const { choices } of stream) got.push(choices[0]?.delta.content ?? '');
    };
    const error = await reading().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'provider_failed' });
    expect(said.startsWith(got.join(''))).toBe(true);
    expect(got.join('')).not.toBe('');
  });

  it('RateLimitError for a provider that wants no more', async () => {
    front.upstream.play({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
    const error = await calling({}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).headers.get('retry-after')).toBe('3600');
  });

  it('ConflictError, at once, for a stream that was already answered', async () => {
    const headers = { 'idempotency-key': 'answered' };
    const params = { model: MODEL, messages, stream: true } as const;
    await Array.fromAsync(await client.chat.completions.create(params, { headers }));
    let requests = 0;
    const counting = client.withOptions({
      fetch: (...request) => {
        requests += 1;
        return fetch(...request);
      },
    });
    const repeated = counting.chat.completions.create(params, { headers });
    await expect(repeated).rejects.toBeInstanceOf(ConflictError);
    await expect(repeated).rejects.toMatchObject({ code: 'already_answered' });
    expect(requests).toBe(1);
  });
});
