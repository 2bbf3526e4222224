import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeLossless, type LosslessMethod } from '../../compress/src/lossless/lossless.ts';
import { incident, rows, saidIn } from './compressible.ts';
import { CHAT, MODEL, type Routed, startRouted } from './compute.ts';
import { nextIn, putTogether } from './put-together.ts';
import type { Script, UpstreamRequest } from './upstream-script.ts';

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());
beforeEach(() => {
  routed.upstream.requests.length = 0;
});

const lines = (count: number, write: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => write(i)).join('\n');
const PORTS = ['Husum', 'Amrum', 'Föhr', 'Sylt', 'Emden', 'Leer', 'Norden'];
const port = (i: number): string => PORTS[(i * 5) % PORTS.length] ?? '';

/** What is pasted, of each kind that may be cut, and code, which may not. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  // Long enough for a cache to begin in it, so that what follows may be cut.
  log: incident(300, 'KILO-4711'),
  prose: lines(
    40,
    (i) =>
      `In week ${i} the ferry left ${port(i)} late. Its master, ${port(i + 3)}, wrote ${i * 71} words about it.${i % 4 === 3 ? '\n' : ''}`,
  ),
  dialogue: lines(60, (i) => `${i % 2 ? 'Anna' : 'Bob'}: In ${port(i)} I saw ${i * 13} gulls… and no boat.`),
  table: `port,ships,day\n${lines(120, (i) => `${port(i)},${i * 17},${i % 31}`)}`,
  rows: JSON.stringify(rows(60)),
  nested: JSON.stringify(rows(40).map((row, i) => (i % 3 ? row : { ...row, own: [i, { deep: port(i) }] }))),
  'JSON lines': lines(60, (i) => JSON.stringify({ at: i, port: port(i), [`n${i % 3}`]: i * 7 })),
  markup: `<ul>\n${lines(90, (i) => `  <li id="n${i}"><a href="/${port(i)}">${i * 19} berths</a></li>`)}\n</ul>`,
  code: lines(
    30,
    (i) => `export function berth${i}(ship: Ship): number {\n  return ship.length * ${i};\n}\n`,
  ),
};
const QUESTION = { role: 'user', content: 'What of request 7919?' };
const pasted = (document: string): string =>
  `Read this.\n<document>\n${document}\n</document>\nKeep it in mind.`;
const turns = [
  ...Object.values(DOCUMENTS).map((text) => ({ role: 'user', content: pasted(text) })),
  QUESTION,
];
/** In which a document may stand in the prompt. */
const FORMS = ['json-tsv', 'jsonl-tsv', 'json-toon', 'json-packed', 'jsonl-packed'] as LosslessMethod[];
const svc = { compression: 'extractive', budget: 0.2, retrieve: true };

const textsOf = ({ body }: UpstreamRequest): string[] =>
  (body['messages'] as JsonObject[]).flatMap((message) =>
    message['role'] === 'user' ? [saidIn(message)] : [],
  );

/** The tool's answers in a request, by the id that each was asked for. */
function answersIn({ body }: UpstreamRequest): Map<string, string[]> {
  const asked = new Map<unknown, string>();
  const answers = new Map<string, string[]>();
  for (const message of body['messages'] as JsonObject[]) {
    for (const call of (message['tool_calls'] ?? []) as { id: string; function: { arguments: string } }[])
      asked.set(call.id, (JSON.parse(call.function.arguments) as { id: string }).id);
    const id = asked.get(message['tool_call_id']);
    if (id !== undefined) answers.set(id, [...(answers.get(id) ?? []), saidIn(message)]);
  }
  return answers;
}

/** A model that asks for all that is missing of these blocks, and goes on as it is told. */
function reader(wanted: readonly string[]): (request: UpstreamRequest) => Script {
  return (request) => {
    const answers = answersIn(request);
    const calls = wanted.flatMap((id) => {
      const last = answers.get(id)?.at(-1);
      const next = last === undefined ? { id } : nextIn(last);
      return next === null ? [] : [JSON.stringify(next)];
    });
    const round = [...answers.values()].flat().length;
    return calls.length === 0
      ? { pieces: ['Read.'] }
      : {
          toolCalls: calls.map((text, i) => ({ id: `r${round + i}`, name: 'svc_retrieve', pieces: [text] })),
        };
  };
}

const idsIn = (request: UpstreamRequest): string[] =>
  textsOf(request).flatMap((text) => [...text.matchAll(/\[cut (\d{12}): /g)].map(([, id = '']) => id));

const last = (): UpstreamRequest => {
  const request = routed.upstream.requests.at(-1);
  if (request === undefined) throw new Error('nothing was sent');
  return request;
};

const PROTOCOLS: Readonly<Record<string, (stream: boolean) => Promise<Response>>> = {
  'chat completions': (stream) => routed.post(CHAT, { model: MODEL, messages: turns, svc, stream }),
  responses: (stream) => routed.post('/v1/compute/responses', { model: MODEL, input: turns, svc, stream }),
  messages: (stream) =>
    routed.post('/v1/compute/messages', { model: MODEL, max_tokens: 100, messages: turns, svc, stream }),
};

describe('every document is put together to the byte from the prompt and what is given back', () => {
  it.each(
    Object.entries(PROTOCOLS).flatMap(([protocol, ask]) =>
      [false, true].map((stream) => ({ protocol, ask, stream })),
    ),
  )('over $protocol; stream: $stream', async ({ ask, stream }) => {
    routed.upstream.always({});
    await (await ask(stream)).text();
    const ids = idsIn(last());
    expect(ids.length).toBeGreaterThanOrEqual(Object.keys(DOCUMENTS).length - 1);
    // What a model may be given in one call does not hold all of it.
    const answers = new Map<string, string[]>();
    for (const wanted of [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]) {
      routed.upstream.always(reader(wanted));
      const response = await ask(stream);
      const text = await response.text();
      expect(response.status, text).toBe(200);
      expect(text).toContain('Read.');
      expect(text).not.toContain('svc_retrieve');
      for (const [id, given] of answersIn(last())) answers.set(id, given);
    }
    expect([...answers.values()].some((parts) => parts.length > 1)).toBe(true);
    const read = textsOf(last()).map((text) => putTogether(text, (id) => answers.get(id) ?? []));
    for (const [i, document] of Object.values(DOCUMENTS).entries()) {
      const [, text = ''] =
        /^Read this\.\n<document>\n(.*?)\n?<\/document>\nKeep it in mind\.$/s.exec(read[i] ?? '') ?? [];
      expect([text, ...FORMS.map((method) => decodeLossless({ method, text }))]).toContain(document);
    }
  });
});
