import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { callTool, connectMcp } from '../packages/server/test/mcp-client.ts';
import { type Fault, startUpstream } from '../packages/server/test/upstream.ts';
import { MODEL, OPERATOR_KEY, serveUntrusted, type Untrusted } from './clients.ts';
import { until } from './log-client.ts';
import { post, temporaryFolder } from './process.ts';

const CHAT = '/v1/compute/chat/completions';
const CLAUDE_KEY = 'sk-ant-operator-secret-0123456789';
/** Words that stand nowhere but in prompts and answers. */
const ASKED = 'xylograph-of-the-caller';
const TOLD = 'zymurgy-of-the-provider';
const messages = [{ role: 'user', content: `Say ${ASKED}.` }];

/** More models than there are faults, so that each fault meets one that has not failed yet. */
function catalogue(folder: string): string {
  const described = { context: 128_000, max_output: 4_096, abilities: ['stream', 'tools'] };
  const priced = { price: { input: '1', output: '2' }, prior: { general: 0.5 } };
  const faulty = Array.from({ length: 20 }, (_, index) => [`openai/m${index}`, `anthropic/m${index}`]);
  const ids = [`openai/${MODEL}`, ...faulty.flat()];
  const file = join(folder, 'models.json');
  writeFileSync(file, JSON.stringify({ models: ids.map((id) => ({ id, ...described, ...priced })) }));
  return file;
}

/** A service that logs all it can, with an OpenAI and an Anthropic upstream in one. */
async function serveLoud(env: NodeJS.ProcessEnv = {}): Promise<Untrusted & { readonly dataDir: string }> {
  const dataDir = temporaryFolder();
  const upstream = await startUpstream();
  const front = await serveUntrusted(
    {
      TALLY_DATA_DIR: dataDir,
      TALLY_LOG_LEVEL: 'trace',
      TALLY_IDLE_TIMEOUT_MS: '300',
      TALLY_CONFIG: catalogue(temporaryFolder()),
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
      ...env,
    },
    upstream,
  );
  return { ...front, dataDir };
}

/** An upstream that talks of the key that it got. */
const quoting = (key: string): string => `${key} at https://user:${key}@models.example is wrong`;
const status = (code: number, message: string): Fault => ({ kind: 'status', status: code, message });

/** All files of a service, as one text. */
function filesOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

const linesWith = (log: string, word: string): string[] =>
  log.split('\n').filter((line) => line.includes(word));

it('the providers’ keys stay in the service, whatever an upstream says of them', async () => {
  const front = await serveLoud();
  const { url, upstream, dataDir } = front;
  const seen: string[] = [];
  const see = async (path: string, body?: JsonObject): Promise<void> => {
    const init =
      body === undefined
        ? {}
        : {
            method: 'POST',
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json', authorization: 'Bearer sk-of-a-caller' },
          };
    const answer = await fetch(url + path, init);
    seen.push(JSON.stringify([...answer.headers]), await answer.text());
  };
  const faultsWith = (message: string): Fault[] => [
    ...[400, 401, 403, 404, 422, 429, 500].map((code) => status(code, message)),
    { kind: 'reset' },
    { kind: 'cut', after: 2 },
    { kind: 'error_event', after: 0, message },
    { kind: 'error_event', after: 2, message },
    { kind: 'garbage', after: 0 },
  ];
  const keys = { openai: OPERATOR_KEY, anthropic: CLAUDE_KEY };
  for (const [provider, key] of Object.entries(keys)) {
    for (const [index, fault] of faultsWith(quoting(key)).entries()) {
      const before = upstream.requests.length;
      upstream.always({ fault });
      for (const stream of [false, true])
        await see(CHAT, { model: `${provider}/m${index}`, messages, stream });
      expect(upstream.requests.length).toBeGreaterThan(before);
      upstream.always({});
      await see(CHAT, { model: `${provider}/m19`, messages });
    }
  }
  upstream.always({ fault: status(400, quoting(OPERATOR_KEY)) });
  await see('/v1/compute/embeddings', { model: 'text-embedding-3-small', input: 'x' });
  const got = upstream.requests.map(({ headers }) => headers['x-api-key'] ?? headers['authorization']);
  expect(new Set(got)).toEqual(new Set([`Bearer ${OPERATOR_KEY}`, CLAUDE_KEY]));
  // What the upstream said of it was passed on, but for the key.
  expect(seen.some((answer) => answer.includes('… at https://user:…@models.example is wrong'))).toBe(true);
  for (const path of [
    '/v1/compute',
    '/v1/compute/models',
    '/v1/compute/models/openai/m0',
    '/v1/compute/models/anthropic/m0',
    '/v1/compute/usage/did:web:a',
    '/metrics',
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/pricing',
    '/v1/log',
  ])
    await see(path);
  await see('/v1/compute/estimate', { messages });
  const { stdout, stderr } = await front.close();
  expect(stderr).toContain('request');
  for (const secret of [OPERATOR_KEY, CLAUDE_KEY, Buffer.from(OPERATOR_KEY).toString('base64')]) {
    expect(seen.filter((answer) => answer.includes(secret))).toEqual([]);
    expect(linesWith(stdout + stderr, secret)).toEqual([]);
    expect(filesOf(dataDir).includes(secret)).toBe(false);
  }
  expect(linesWith(stdout + stderr, 'sk-of-a-caller')).toEqual([]);
});

it('prompts and answers are neither logged nor kept, however a call ends', async () => {
  const front = await serveLoud();
  const { url, upstream, dataDir } = front;
  upstream.always({ pieces: [TOLD] });
  const tools = [{ type: 'function', function: { name: 'f', description: ASKED, parameters: {} } }];
  const bodies: (JsonObject | string)[] = [
    { model: MODEL, messages, tools },
    { model: MODEL, messages, stream: true },
    { model: MODEL, messages, svc: { keep: true } },
    { model: 'auto', messages, svc: { session: 'a-session' } },
    { model: 'local/extract-1', messages },
    { model: 'a-model-of-nobody', messages },
    { model: MODEL, messages: [{ role: ASKED, content: ASKED }] },
    { model: MODEL, messages, temperature: ASKED },
    { model: MODEL, messages: [{ role: 'user', content: [{ type: ASKED, text: ASKED }] }] },
    { model: MODEL, messages: [{ role: 'user', content: `${ASKED} `.repeat(70_000) }] },
    `{"messages":[{"role":"user","content":"${ASKED}"`,
    `{"messages":"${ASKED}","messages":1}`,
  ];
  for (const body of bodies) await post(url + CHAT, body);
  const faults: Fault[] = [
    status(400, `${ASKED} and ${TOLD} are refused`),
    status(500, `${ASKED} and ${TOLD} broke it`),
    { kind: 'cut', after: 2 },
    { kind: 'stall', after: 2 },
    { kind: 'garbage', after: 2 },
  ];
  for (const [index, fault] of faults.entries()) {
    upstream.always({ pieces: [TOLD, 'and more'], fault });
    for (const provider of ['openai', 'anthropic']) {
      for (const stream of [true, false])
        await post(url + CHAT, { model: `${provider}/m${index}`, messages, stream });
    }
  }
  upstream.always({ pieces: [TOLD] });
  for (const path of ['estimate', 'embeddings'])
    await post(`${url}/v1/compute/${path}`, path === 'estimate' ? { messages } : { input: ASKED });
  const client = await connectMcp(url, '2025-11-25');
  await callTool(client, 'chat', { model: 'local/extract-1', messages });
  await client.close();
  const { stdout, stderr } = await front.close();
  expect(stderr).toContain(`"route":"${CHAT}"`);
  const kept = filesOf(dataDir);
  expect(kept.includes(`openai/${MODEL}`)).toBe(true);
  for (const word of [ASKED, TOLD]) {
    expect(linesWith(stdout + stderr, word)).toEqual([]);
    expect(kept.includes(word)).toBe(false);
  }
});

it('prompts and answers are kept where operator and caller both say so, and then encrypted', async () => {
  const front = await serveLoud({ TALLY_KEEP_CONTENT_DAYS: '1', TALLY_IDLE_TIMEOUT_MS: '60000' });
  const { url, upstream, dataDir } = front;
  upstream.always({ pieces: [TOLD] });
  const called = async (body: JsonObject): Promise<string> => {
    const answer = await fetch(url + CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages, ...body }),
    });
    await answer.text();
    return answer.headers.get('x-receipt-id') ?? '';
  };
  const contentOf = async (id: string): Promise<{ readonly status: number; readonly text: string }> => {
    const content = await fetch(`${url}/v1/compute/calls/${id}/content`);
    return { status: content.status, text: await content.text() };
  };
  for (const stream of [false, true]) {
    const unasked = await called({ stream });
    const asked = await called({ stream, svc: { keep: true } });
    // Another process than the one that answered sees it within a second.
    const kept = await until(
      () => contentOf(asked),
      ({ status }) => status === 200,
    );
    for (const word of [ASKED, TOLD]) expect(kept.text).toContain(word);
    const { status, text } = await contentOf(unasked);
    expect(status, text).toBe(404);
  }
  const { stdout, stderr } = await front.close();
  const files = filesOf(dataDir);
  expect(files.includes('call_contents')).toBe(true);
  for (const word of [ASKED, TOLD]) {
    expect(linesWith(stdout + stderr, word)).toEqual([]);
    expect(files.includes(word)).toBe(false);
  }
});
