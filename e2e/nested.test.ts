import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODELS_FILE } from '../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from './process.ts';

interface Exchange {
  readonly request: string;
  readonly response: string;
}

/** Stands between the two services and keeps what the inner one was asked and what it answered. */
interface Recorder {
  readonly url: string;
  last(): Exchange;
  close(): void;
}

async function startRecorder(target: string): Promise<Recorder> {
  const seen: Exchange[] = [];
  const server: Server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await text(incoming);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(target + incoming.url, { method: 'POST', headers, body: request });
      const response = await answer.text();
      seen.push({ request, response });
      const type = answer.headers.get('content-type') ?? '';
      outgoing.writeHead(answer.status, { 'content-type': type }).end(response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    last() {
      const exchange = seen.at(-1);
      if (exchange === undefined) throw new Error('nothing was asked');
      return exchange;
    },
    close: () => server.close(),
  };
}

/** `tally verify` of what a service answered, by somebody who trusts that service. */
async function verified(service: Served, { request, response }: Exchange): Promise<void> {
  const folder = temporaryFolder();
  const home: Env = { TALLY_HOME: join(folder, 'home') };
  const receipt = /"receipt":(\{.*?"v":"svc-receipt-v1"\})/s.exec(
    response.slice(response.lastIndexOf('"svc":{"receipt"')),
  )?.[1];
  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const trust = file('trust.json', await (await fetch(`${service.url}/.well-known/trust.json`)).text());
  const args = ['--request', file('request.json', request), '--response', file('response', response)];
  const ended = await tally(['verify', file('receipt.json', receipt ?? ''), '--trust', trust, ...args], home);
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
}

describe('a service in front of another', () => {
  let upstream: Upstream;
  let inner: Served;
  let between: Recorder;
  let outer: Served;
  beforeAll(async () => {
    upstream = await startUpstream();
    const start = (base: string): Promise<Served> =>
      serve({
        TALLY_DATA_DIR: temporaryFolder(),
        TALLY_DEVNET: 'off',
        OPENAI_BASE_URL: base,
        TALLY_CONFIG: MODELS_FILE,
      });
    inner = await start(`${upstream.url}/v1`);
    between = await startRecorder(inner.url);
    outer = await start(`${between.url}/v1/compute`);
  });
  afterAll(async () => {
    await outer.kill('SIGTERM');
    between.close();
    await inner.kill('SIGTERM');
    await upstream.close();
  });

  it.each([{ stream: false }, { stream: true }, { stream: true, stream_options: { include_usage: true } }])(
    'gives receipts that verify at both: %j',
    async (options) => {
      const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say it.' }] };
      const request = JSON.stringify({ ...body, ...options });
      const answer = await fetch(`${outer.url}/v1/compute/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: request,
      });
      const response = await answer.text();
      expect(response.match(/"svc":\{"receipt"/g)).toHaveLength(1);
      expect(between.last().response).toContain('"svc":{"receipt"');
      await verified(outer, { request, response });
      await verified(inner, between.last());
    },
  );
});
