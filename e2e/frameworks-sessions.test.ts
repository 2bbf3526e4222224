import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { recordTools } from '@tallystick/ai-sdk';
import { saltedHash, saltOf } from '@tallystick/core';
import { SessionCallbackHandler } from '@tallystick/langchain';
import { generateSecretKey, openSession, type Session, verifySession } from '@tallystick/sdk';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { beforeEach, describe, expect, it } from 'vitest';

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never;

let session: Session;
let lines: string[];
beforeEach(async () => {
  lines = [];
  session = await openSession({ key: generateSecretKey(), keep: (line) => void lines.push(line) });
});

const calls = () => lines.map((line) => JSON.parse(line)).filter(({ call }) => call.kind === 'tool');
const outcomes = () => calls().map(({ call }) => [call.tool, call.outcome]);
const hash = (seq: string, part: 'arguments' | 'result', json: object | string): string =>
  saltedHash(saltOf(session.salt, seq, part), { json: json as object as never });

async function expectValid(count: number): Promise<void> {
  await session.close();
  const verdict = await verifySession(`${lines.join('\n')}\n`, { now: Date.now() });
  expect(verdict).toMatchObject({ valid: true, state: 'closed', count });
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } } as const;

describe('recordTools of the AI SDK', () => {
  const inputSchema = jsonSchema<{ city: string }>(parameters);
  const tools = () =>
    recordTools(
      {
        weather: tool({ inputSchema, execute: ({ city }) => ({ city, celsius: 9 }) }),
        broken: tool({
          inputSchema,
          execute(): string {
            throw new Error('No answer.');
          },
        }),
        forecast: tool({
          inputSchema,
          async *execute() {
            yield 'morning: 4';
            yield 'noon: 9';
          },
        }),
        unmade: tool({ inputSchema, outputSchema: inputSchema }),
      },
      session,
    );

  /** A model that calls a tool once, and then says something. */
  function calling(toolName: string): MockLanguageModelV4 {
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    };
    const call = { toolCallId: 'call_1', toolName, input: '{"city":"Zürich"}' };
    const steps = [
      { content: [{ type: 'tool-call', ...call }], reason: 'tool-calls' },
      { content: [{ type: 'text', text: 'Done.' }], reason: 'stop' },
    ] as const;
    const finish = (unified: 'tool-calls' | 'stop') => ({ unified, raw: undefined });
    let asked = 0;
    const next = () => steps[Math.min(asked++, 1)] ?? steps[1];
    return new MockLanguageModelV4({
      async doGenerate() {
        const { content, reason } = next();
        return { content: [...content], finishReason: finish(reason), usage, warnings: [] };
      },
      async doStream() {
        const { content, reason } = next();
        const parts = content.flatMap((part): StreamPart[] =>
          part.type === 'text'
            ? [
                { type: 'text-start', id: '1' },
                { type: 'text-delta', id: '1', delta: part.text },
                { type: 'text-end', id: '1' },
              ]
            : [part],
        );
        const end: StreamPart = { type: 'finish', finishReason: finish(reason), usage };
        return { stream: simulateReadableStream({ chunks: [...parts, end] }) };
      },
    });
  }

  const ask = (toolName: string) =>
    generateText({ model: calling(toolName), tools: tools(), prompt: 'Go.', stopWhen: isStepCount(3) });

  it('records the arguments and the result of a call', async () => {
    const { steps, text } = await ask('weather');
    expect(text).toBe('Done.');
    expect(steps[0]?.toolResults[0]).toMatchObject({ output: { city: 'Zürich', celsius: 9 } });
    const [receipt] = calls();
    expect(receipt.call).toMatchObject({
      tool: 'weather',
      outcome: 'completed',
      server: { name: 'ai-sdk', transport: 'in_process' },
    });
    expect(receipt.request.hash).toBe(hash('1', 'arguments', { city: 'Zürich' }));
    expect(receipt.response.hash).toBe(hash('1', 'result', { city: 'Zürich', celsius: 9 }));
    await expectValid(3);
  });

  it('records a tool that throws, and the model hears of it as before', async () => {
    const { steps } = await ask('broken');
    expect(steps[0]?.content.map(({ type }) => type)).toContain('tool-error');
    expect(outcomes()).toEqual([['broken', 'error']]);
  });

  it('passes the values of a stream on, and records the last', async () => {
    const result = streamText({
      model: calling('forecast'),
      tools: tools(),
      prompt: 'Go.',
      stopWhen: isStepCount(3),
    });
    const outputs: unknown[] = [];
    for await (const part of result.fullStream) if (part.type === 'tool-result') outputs.push(part.output);
    expect(outputs).toEqual(['morning: 4', 'noon: 9', 'noon: 9']);
    expect(calls()[0].response.hash).toBe(hash('1', 'result', 'noon: 9'));
  });

  it('leaves a tool alone that somebody else executes', () => {
    expect(tools().unmade).not.toHaveProperty('execute');
  });

  it('does not execute a tool that can’t be noted', async () => {
    await session.close();
    const { steps } = await ask('weather');
    expect(steps[0]?.content).toContainEqual(
      expect.objectContaining({
        type: 'tool-error',
        error: expect.objectContaining({ code: 'session_closed' }),
      }),
    );
  });
});

describe('SessionCallbackHandler of LangChain', () => {
  const weather = new DynamicStructuredTool({
    name: 'weather',
    description: 'Tells the weather.',
    schema: parameters,
    func: async ({ city }: { city: string }) => `9 °C in ${city}`,
  });
  const broken = new DynamicStructuredTool({
    name: 'broken',
    description: 'Fails.',
    schema: parameters,
    func: () => Promise.reject(new Error('No answer.')),
  });
  const options = () => ({ callbacks: [new SessionCallbackHandler(session)] });

  it('records the arguments and the result of a call', async () => {
    const call = { type: 'tool_call', id: 'call_1', name: 'weather', args: { city: 'Zürich' } } as const;
    const message = await weather.invoke(call, options());
    expect(message).toBeInstanceOf(ToolMessage);
    const [receipt] = calls();
    expect(receipt.call).toMatchObject({
      tool: 'weather',
      outcome: 'completed',
      server: { name: 'langchain', transport: 'in_process' },
    });
    expect(receipt.request.hash).toBe(hash('1', 'arguments', { city: 'Zürich' }));
    expect(receipt.response.hash).toBe(hash('1', 'result', '9 °C in Zürich'));
    await expectValid(3);
  });

  it('records a result that says that the tool failed as an error', async () => {
    const failing = new DynamicStructuredTool({
      name: 'failing',
      description: 'Says that it failed.',
      schema: parameters,
      func: async () => new ToolMessage({ tool_call_id: 'call_1', content: 'No answer.', status: 'error' }),
    });
    const call = { type: 'tool_call', id: 'call_1', name: 'failing', args: { city: 'Bern' } } as const;
    await failing.invoke(call, options());
    expect(calls().map(({ call: { outcome } }) => outcome)).toEqual(['error']);
  });

  it('records each of several calls at once, also one that throws', async () => {
    const config = options();
    const run = { city: 'Bern' };
    await Promise.allSettled([
      weather.invoke(run, config),
      broken.invoke(run, config),
      weather.invoke(run, config),
    ]);
    expect(outcomes().toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
      ['broken', 'error'],
      ['weather', 'completed'],
      ['weather', 'completed'],
    ]);
    await expectValid(5);
  });

  it('does not run a tool that can’t be noted', async () => {
    await session.close();
    await expect(weather.invoke({ city: 'Bern' }, options())).rejects.toMatchObject({
      code: 'session_closed',
    });
  });
});
