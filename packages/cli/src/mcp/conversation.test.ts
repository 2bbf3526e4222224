import { parseJson, RECEIPT_META_KEY, saltedHash, saltOf, verifySession } from '@tallystick/core';
import { openSession, type Session } from '@tallystick/sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { Conversation, type Passage } from './conversation.ts';
import { type PolicyOptions, policyOf } from './policy.ts';

const SERVER = { name: 'node', version: null, transport: 'stdio', identity_sha256: null } as const;

let session: Session;
let receipts: string[];
let remarks: string[];
let asked: string[];
beforeEach(async () => {
  receipts = [];
  remarks = [];
  asked = [];
  session = await openSession({ key: new Uint8Array(32).fill(1), keep: (receipt) => receipts.push(receipt) });
});

const conversation = (
  policy: PolicyOptions = {},
  recorder: Pick<Session, 'begin' | 'end'> = session,
): Conversation =>
  new Conversation({
    recorder,
    decide: policyOf(policy),
    server: SERVER,
    remark: (text) => remarks.push(text),
  });
const bytes = (message: unknown): Buffer =>
  Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
const call = (id: unknown, name: string, args: unknown = { a: 1 }) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const result = (id: unknown, value: unknown = { content: [] }) => ({ jsonrpc: '2.0', id, result: value });
const initialize = (elicitation?: object) => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { capabilities: { ...(elicitation && { elicitation }) } },
});

/** What becomes of a message of the client, as text. */
async function take(at: Conversation, message: unknown) {
  const taken = at.take(bytes(message), (question) => asked.push(String(question)));
  const { forward, answer }: Passage = await taken.passage;
  return { forward: forward?.toString(), answer: answer && JSON.parse(String(answer)) };
}
const give = async (at: Conversation, message: unknown): Promise<string> =>
  String(await at.give(bytes(message)));
const calls = () => receipts.slice(1).map((receipt) => JSON.parse(receipt).call);

describe('the answer to a call', () => {
  it.each([
    ['no _meta', '{"content" : [ ] }', '{"_meta":{"tallystick/receipt":R},"content" : [ ] }'],
    ['an empty result', '{ }', '{"_meta":{"tallystick/receipt":R} }'],
    ['an empty _meta', '{"_meta": {}}', '{"_meta": {"tallystick/receipt":R}}'],
    ['a _meta', '{"a":"}\\"","_meta":{ "x" :1}}', '{"a":"}\\"","_meta":{"tallystick/receipt":R, "x" :1}}'],
    [
      'a receipt of its own',
      '{"_meta":{"tallystick/receipt":{"v":"x"}}}',
      '{"_meta":{"tallystick/receipt":R}}',
    ],
    ['a _meta that is no object', '{"_meta":null}', '{"_meta":null}'],
    ['a result that is no object', '[1]', '[1]'],
    [
      'text of any language',
      '{"content":"Zürich ∑ 🜁"}',
      '{"_meta":{"tallystick/receipt":R},"content":"Zürich ∑ 🜁"}',
    ],
  ])('keeps its text beside the receipt: %s', async (_, text, expected) => {
    const at = conversation();
    const line = bytes(call(7, 'read'));
    expect((await at.take(line, null).passage).forward).toBe(line);
    const answer = (value: string) => `{"jsonrpc": "2.0",  "id": 7, "result":${value}}`;
    const [, receipt = ''] = [await give(at, answer(text)), receipts[1]];
    expect(receipt).not.toBe('');
    const again = conversation();
    await take(again, call(7, 'read'));
    expect(await give(again, answer(text))).toBe(answer(expected.replace('R', receipts[2] ?? '')));
  });

  it('is covered by the receipt, without the receipt', async () => {
    const at = conversation();
    await take(at, call('x', 'read', { path: 'a' }));
    const { _meta: meta, ...rest } = JSON.parse(await give(at, result('x', { content: ['hi'] }))).result;
    const { request, response } = meta[RECEIPT_META_KEY];
    expect(saltedHash(saltOf(session.salt, '1', 'arguments'), { json: { path: 'a' } })).toBe(request.hash);
    expect(saltedHash(saltOf(session.salt, '1', 'result'), { json: rest })).toBe(response.hash);
    await session.close();
    const verdict = await verifySession(`${receipts.join('\n')}\n`, { now: Date.now() });
    expect(verdict).toMatchObject({ valid: true, state: 'closed', count: 3 });
  });

  it('tells an error of the tool and one of the protocol', async () => {
    const at = conversation();
    await take(at, call(1, 'read'));
    await take(at, call(2, 'read'));
    await give(at, result(1, { isError: true, content: [] }));
    const error = { jsonrpc: '2.0', id: 2, error: { code: -32_602, message: 'no' } };
    expect(JSON.parse(await give(at, error))).toEqual(error);
    expect(calls().map(({ outcome }) => outcome)).toEqual(['error', 'error']);
    const { response } = JSON.parse(receipts[2] ?? '');
    expect(saltedHash(saltOf(session.salt, '2', 'result'), { json: error.error })).toBe(response.hash);
  });

  it('hashes what is no I-JSON as its bytes', async () => {
    const at = conversation();
    await take(
      at,
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":{"n":12345678901234567890}}}',
    );
    await give(at, '{"id":1,"result":{"n":1,"n":2}}');
    expect(calls()[0]).toMatchObject({ raw: ['arguments', 'result'] });
  });

  it('is recorded with the name that the server gave', async () => {
    const at = conversation();
    await take(at, initialize());
    await give(at, result(0, { serverInfo: { name: 'files', version: '1.2' } }));
    await take(at, call(1, 'read'));
    await give(at, result(1));
    expect(calls()[0]).toMatchObject({ tool: 'read', server: { name: 'files', version: '1.2' } });
  });

  it('is withheld if its receipt can’t be written', async () => {
    const full = {
      begin: session.begin.bind(session),
      end: () => Promise.reject(new Error('No space left.')),
    };
    const at = conversation({}, full);
    await take(at, call(1, 'read'));
    expect(JSON.parse(await give(at, result(1)))).toMatchObject({ id: 1, error: { code: -32_603 } });
    expect(remarks).toEqual(['A receipt could not be written: No space left.']);
  });
});

describe('a message', () => {
  it.each([
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
    ['an unknown method', '{"jsonrpc":"2.0","id":3,"method":"x/y","params":{"name":1,"name":2}}'],
    ['an answer', '{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}'],
    ['an empty line', ''],
    ['a scalar', ' 3 '],
    ['an empty batch', '[]'],
    ['a carriage return at its end', '{"jsonrpc":"2.0","id":3,"method":"ping"}\r'],
  ])('passes as it came: %s', async (_, text) => {
    const at = conversation();
    expect(await take(at, text)).toEqual({ forward: text, answer: undefined });
    await take(at, call(1, 'read'));
    expect(await give(at, text)).toBe(text);
  });

  it.each([
    ['a name that comes twice', '{"id":1,"method":"ping","method":"tools/call","params":{"name":"rm"}}'],
    [
      'a name with an escape',
      String.raw`{"id":1,"method":"ping","m\u0065thod":"tools/call","params":{"name":"rm"}}`,
    ],
    ['a name in another case', '{"id":1,"Method":"tools/call","params":{"name":"rm"}}'],
    ['a name with a long s', '{"id":1,"method":"ping","paramſ":{"name":"rm"}}'],
    ['two tools', '{"id":1,"method":"tools/call","params":{"name":"read","name":"rm"}}'],
    ['a call without an id', '{"method":"tools/call","params":{"name":"rm"}}'],
    ['a call with the id null', '{"id":null,"method":"tools/call","params":{"name":"rm"}}'],
    ['a call without a name', '{"id":1,"method":"tools/call","params":{}}'],
    [
      'what only some parsers read',
      '{"id":1,"method":"tools/call","params":{"name":"rm","arguments":{"n":NaN}}}',
    ],
    ['what is not JSON', '{"id":1,"method":"tools/call"'],
    [
      'a call in a batch that can be read in two ways',
      '[{"id":1,"METHOD":"tools/call","params":{"name":"rm"}}]',
    ],
  ])('does not reach the server: %s', async (_, text) => {
    const { forward, answer } = await take(conversation(), text);
    expect(forward).toBeUndefined();
    expect([answer].flat()[0].error.code).toBeLessThan(-32_000);
    expect(calls()).toEqual([]);
  });

  it('is judged by what escapes stand for', async () => {
    const text = String.raw`{"id":1,"\u006dethod":"tools\/call","params":{"n\u0061me":"r\u006d"}}`;
    const { answer } = await take(conversation({ deny: ['rm'] }), text);
    expect(answer.result.isError).toBe(true);
  });

  it('has no carriage return inside, at which a server could begin to read', async () => {
    const text = '{"x":\r{"id":1,"method":"tools/call","params":{"name":"rm"}}\r}\r';
    const { forward } = await take(conversation(), text);
    expect(forward).toBe(text.replaceAll(/\r(?=.)/g, ' '));
  });
});

describe('a policy', () => {
  it('refuses as a result with an error, and records it', async () => {
    const at = conversation({ allow: ['read*', 'write_file'], deny: ['*_secret'] });
    expect((await take(at, call(1, 'read_file'))).forward).toBeDefined();
    for (const name of ['read_secret', 'write', 'xwrite_file', 'read_secret\n'.trim()]) {
      const { forward, answer } = await take(at, call(2, name));
      expect(forward).toBeUndefined();
      expect(answer).toMatchObject({ id: 2, result: { isError: true, content: [{ type: 'text' }] } });
      const { _meta: meta } = answer.result;
      expect(meta[RECEIPT_META_KEY].call).toMatchObject({ tool: name, outcome: 'denied' });
    }
    expect(calls()).toHaveLength(4);
  });

  it.each([
    [{ action: 'accept', content: {} }, null],
    [{ action: 'decline' }, 'denied'],
    [{ action: 'cancel' }, 'denied'],
  ])('asks the user: %j', async (answered, outcome) => {
    const at = conversation({ ask: ['rm'] });
    await take(at, initialize({}));
    const taken = at.take(bytes(call(5, 'rm', { path: '/' })), (question) => asked.push(String(question)));
    expect(taken.waitsForUser).toBe(true);
    const question = parseJson(Buffer.from(asked[0] ?? '')) as {
      id: string;
      method: string;
      params: { message: string };
    };
    expect(question).toMatchObject({ method: 'elicitation/create' });
    expect(question.params.message).toContain('"rm" of "node" be called with these arguments? {"path":"/"}');
    expect(await take(at, result(question.id, answered))).toEqual({});
    const { forward, answer } = await taken.passage;
    expect(forward === undefined).toBe(outcome !== null);
    expect(answer === undefined).toBe(outcome === null);
    expect(calls().map((one) => one.outcome)).toEqual(outcome === null ? [] : [outcome]);
  });

  it.each([[undefined], [{ url: {} }]])(
    'refuses where the user can’t be asked: elicitation %j',
    async (elicitation) => {
      const at = conversation({ ask: ['*'] });
      await take(at, initialize(elicitation));
      const { answer } = await take(at, call(5, 'rm'));
      expect(answer.result.content[0].text).toContain('cannot ask');
      expect(calls()).toMatchObject([{ outcome: 'denied' }]);
    },
  );

  it('asks under an id that no server can guess, to ask something else under it', async () => {
    const idOf = async (): Promise<string> => {
      const at = conversation({ ask: ['*'] });
      await take(at, initialize({}));
      at.take(bytes(call(1, 'rm')), (question) => asked.push(String(question)));
      return JSON.parse(asked.at(-1) ?? '').id;
    };
    const ids = [await idOf(), await idOf()];
    expect(ids[0]).not.toBe(ids[1]);
    for (const id of ids) expect(id).toMatch(/^tallystick-ask-[\da-f-]{36}$/);
  });

  it('takes no other call with the id of one that the user is asked about', async () => {
    const at = conversation({ ask: ['write'] });
    await take(at, initialize({}));
    const asking = take(at, call(1, 'write', { to: 'a' }));
    const second = await take(at, call(1, 'read', { of: 'b' }));
    expect(second).toMatchObject({ forward: undefined, answer: { id: 1, error: { code: -32_600 } } });
    await take(at, result(JSON.parse(asked[0] ?? '').id, { action: 'accept' }));
    expect((await asking).forward).toContain('"write"');
    await give(at, result(1));
    expect(calls()).toMatchObject([{ tool: 'write', outcome: 'completed' }]);
    const { request } = JSON.parse(receipts[1] ?? '');
    expect(saltedHash(saltOf(session.salt, '1', 'arguments'), { json: { to: 'a' } })).toBe(request.hash);
  });

  it('tells the client that a question is void if its call is cancelled', async () => {
    const at = conversation({ ask: ['*'] });
    await take(at, initialize({ form: {} }));
    const taken = at.take(bytes(call(5, 'rm')), (question) => asked.push(String(question)));
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
    expect(await take(at, cancelled)).toEqual({});
    expect(await taken.passage).toEqual({});
    expect(JSON.parse(asked[1] ?? '').params.requestId).toBe(JSON.parse(asked[0] ?? '').id);
    expect(calls()).toMatchObject([{ outcome: 'cancelled' }]);
  });
});

/** Of a result, with its receipt. */
type Meta = Readonly<Record<string, { readonly call: { readonly tool: string } }>>;

describe('a batch', () => {
  const ping = { jsonrpc: '2.0', id: 'p', method: 'ping' };

  it('passes whole, and each answer gets its receipt', async () => {
    const at = conversation();
    const text = ` [ ${JSON.stringify(call(1, 'a'))} , ${JSON.stringify(ping)},${JSON.stringify(call(2, 'b'))}]`;
    expect((await take(at, text)).forward).toBe(text);
    const given = await give(
      at,
      `[ ${JSON.stringify(result(2))}, ${JSON.stringify(result('p', {}))} ,${JSON.stringify(result(1))} ]`,
    );
    expect(given).toMatch(/^\[ \{.*\}, \{.*\} ,\{.*\} \]$/);
    const tools = JSON.parse(given).map(
      ({ result: { _meta: meta } }: { result: { _meta?: Meta } }) => meta?.[RECEIPT_META_KEY]?.call.tool,
    );
    expect(tools).toEqual(['b', undefined, 'a']);
  });

  it('does not pass if a call in it is refused', async () => {
    const { forward, answer } = await take(conversation({ deny: ['rm'] }), [
      call(1, 'a'),
      call(2, 'rm'),
      ping,
    ]);
    expect(forward).toBeUndefined();
    expect(answer).toMatchObject([
      { id: 1, error: {} },
      { id: 2, result: { isError: true } },
      { id: 'p', error: {} },
    ]);
    expect(calls()).toMatchObject([{ tool: 'rm', outcome: 'denied' }]);
  });
});

describe('a call without an answer', () => {
  it('is cancelled if the client said so, or else unknown', async () => {
    const at = conversation();
    await take(at, call(1, 'a'));
    await take(at, call('1', 'b'));
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await take(at, cancelled)).forward).toBe(JSON.stringify(cancelled));
    await at.end('unknown');
    expect(calls()).toMatchObject([
      { tool: 'a', outcome: 'cancelled' },
      { tool: 'b', outcome: 'unknown' },
    ]);
    expect(at.isWaiting).toBe(false);
  });

  it('is recorded by its answer if that comes after all', async () => {
    const at = conversation();
    await take(at, call(1, 'a'));
    await take(at, { method: 'notifications/cancelled', params: { requestId: 1 } });
    await give(at, result(1));
    await at.end('unknown');
    expect(calls()).toMatchObject([{ outcome: 'completed' }]);
  });

  it('keeps its id', async () => {
    const at = conversation();
    await take(at, call(1, 'a'));
    expect((await take(at, call(1, 'b'))).answer.error.code).toBe(-32_600);
    await give(at, result(1));
    expect((await take(at, call(1, 'b'))).forward).toBeDefined();
  });
});
