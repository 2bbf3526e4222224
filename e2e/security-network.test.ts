import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject, JsonValue } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, connectMcp } from '../packages/server/test/mcp-client.ts';
import { MODEL, serveUntrusted, type Untrusted } from './clients.ts';
import { post, temporaryFolder } from './process.ts';
import { rawPost } from './raw-post.ts';

const CHAT = '/v1/compute/chat/completions';
const NOTES_CONNECTIONS = fileURLToPath(new URL('./connections.ts', import.meta.url));
/** Nobody has it; a look-up of it would be noted. */
const NOWHERE = 'http://nowhere.invalid/v1';

describe('no host that a caller names is ever connected to', () => {
  let front: Untrusted;
  let somewhere: Server;
  let target: string;
  let visits = 0;
  const notes = join(temporaryFolder(), 'connections');

  beforeAll(async () => {
    somewhere = createServer((_request, response) => response.end()).on('connection', () => {
      visits += 1;
    });
    somewhere.listen(0, '127.0.0.1');
    await once(somewhere, 'listening');
    target = `http://127.0.0.1:${(somewhere.address() as AddressInfo).port}/v1`;
    front = await serveUntrusted({
      TALLY_DATA_DIR: temporaryFolder(),
      NODE_OPTIONS: `--import=${NOTES_CONNECTIONS}`,
      CONNECTIONS: notes,
    });
  });
  afterAll(async () => {
    await front.close();
    somewhere.close();
  });

  const connections = (): string[] => [...new Set(readFileSync(notes, 'utf8').trim().split('\n'))];
  const expectOnlyUpstream = (): void => {
    expect(connections()).toEqual([new URL(front.upstream.url).host]);
    expect(visits).toBe(0);
  };
  const messages = [{ role: 'user', content: 'x' }];
  const body = JSON.stringify({ model: MODEL, messages });

  it('in headers', async () => {
    for (const url of [target, NOWHERE]) {
      const { host } = new URL(url);
      const headers = {
        host,
        forwarded: `host=${host};proto=http;for=127.0.0.1`,
        'x-forwarded-host': host,
        'x-forwarded-server': host,
        'x-original-host': host,
        'x-original-url': url,
        'x-rewrite-url': url,
        'x-base-url': url,
        'x-portkey-custom-host': url,
        'x-portkey-provider': 'openai',
        'openai-base-url': url,
        'openai-organization': host,
        origin: url,
        referer: url,
        via: host,
      };
      expect((await rawPost(front.url + CHAT, headers, body)).status).toBe(200);
    }
    expectOnlyUpstream();
  });

  it('in the request’s target', async () => {
    const { host, port } = new URL(target);
    for (const asked of [target, `//${host}:${port}/v1`, `${target}/../${CHAT}`])
      expect((await rawPost(front.url, { host }, body, asked)).status, asked).not.toBe(200);
    expectOnlyUpstream();
  });

  it.each(['chat/completions', 'embeddings', 'estimate'])('in the body of %s', async (path) => {
    for (const url of [target, NOWHERE]) {
      const image = { type: 'image_url', image_url: { url: `${url}/image.png` } };
      const seen = [{ role: 'user', content: [{ type: 'text', text: url }, image] }];
      const bodies: JsonObject[] = [
        { model: url },
        { model: `openai/${url}` },
        { model: MODEL, messages: seen },
        { model: MODEL, base_url: url, api_base: url, baseURL: url, host: url, endpoint: url },
        { model: MODEL, provider: { order: [url], base_url: url } },
        { model: MODEL, provider: { only: [url] } },
        { model: MODEL, svc: { session: url, host: url } },
        { model: MODEL, web_search_options: { url }, tools: [{ type: 'mcp', server_url: url }] },
        { model: MODEL, stream: true, webhook: url, callback_url: url },
      ];
      for (const body of bodies) {
        const wanted = path === 'embeddings' ? { input: url } : { messages };
        await post(`${front.url}/v1/compute/${path}`, { ...wanted, ...body });
      }
    }
    expectOnlyUpstream();
  });

  it('in DIDs, of members, usage, callers and signatures', async () => {
    const { host } = new URL(target);
    const dids = [`did:web:${host.replace(':', '%3A')}`, 'did:web:nowhere.invalid'];
    for (const did of dids) {
      await post(`${front.url}/v1/compute/member/register`, { did, handle: null });
      await post(`${front.url}/v1/compute/member/register`, { did });
      for (const path of ['usage', 'member/verify'])
        await fetch(`${front.url}/v1/compute/${path}/${encodeURIComponent(did)}`);
      const headers = {
        'x-agent-did': did,
        'signature-input': `agent=("@method" "@target-uri" "x-agent-did");created=${Math.floor(Date.now() / 1000)};nonce="n";keyid="${did}";alg="ed25519"`,
        signature: `agent=:${Buffer.alloc(64).toString('base64')}:`,
      };
      const { status } = await post(
        `${front.url}/v1/compute/chat/completions`,
        { model: MODEL, messages },
        headers,
      );
      expect(status).toBe(401);
    }
    expectOnlyUpstream();
  });

  it('in any member that any route shows in its example, or any place of its path', async () => {
    const document = (await (await fetch(`${front.url}/openapi.json`)).json()) as OpenApi;
    let sent = 0;
    for (const [template, operations] of Object.entries(document.paths)) {
      const path = template.replaceAll(/\{\w+\}/g, encodeURIComponent(NOWHERE));
      for (const [method, { requestBody }] of Object.entries(operations)) {
        if (path === '/mcp') continue;
        const example = requestBody?.content['application/json']?.example;
        const bodies = example === undefined ? [undefined] : [...replaced(example, target), example];
        for (const body of bodies) {
          const headers = { 'content-type': 'application/json', 'x-agent-did': 'did:web:nowhere.invalid' };
          const init = { method: method.toUpperCase(), headers };
          const answer = await fetch(
            front.url + path,
            body === undefined ? init : { ...init, body: JSON.stringify(body) },
          );
          // A tail of events never ends by itself.
          if (answer.headers.get('content-type')?.startsWith('text/event-stream'))
            await answer.body?.cancel();
          else await answer.text();
          sent += 1;
        }
      }
    }
    expect(sent).toBeGreaterThan(50);
    expectOnlyUpstream();
  });

  it('in tools of /mcp', async () => {
    const client = await connectMcp(front.url, '2025-11-25', { 'x-forwarded-host': 'nowhere.invalid' });
    for (const url of [target, NOWHERE]) {
      await callTool(client, 'chat', { model: MODEL, messages, base_url: url }).catch(() => null);
      await callTool(client, 'chat', { model: url, messages }).catch(() => null);
      await callTool(client, 'embed', { input: url, base_url: url }).catch(() => null);
      await callTool(client, 'resolve_anchor', { anchor_ref: url }).catch(() => null);
    }
    await client.close();
    expectOnlyUpstream();
  });
});

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { example?: JsonValue }> } }>
  >;
}

/** Copies of a document, each with another of its texts replaced. */
function replaced(value: JsonValue, text: string): JsonValue[] {
  if (typeof value === 'string') return [text];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    replaced(inner, text).map((changed) => {
      const copy = structuredClone(value) as JsonObject;
      copy[name] = changed;
      return copy;
    }),
  );
}
