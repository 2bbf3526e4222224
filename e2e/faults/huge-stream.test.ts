import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadsOf, streamHash, svcIn } from '../../packages/server/test/compute.ts';
import { MODELS_FILE } from '../../packages/server/test/models.ts';
import { Acknowledged } from '../acknowledged.ts';
import { type Served, serve, temporaryFolder } from '../process.ts';
import { readiness } from './load.ts';

const GIGABYTE = 1_000_000_000;
/** By how much the service's memory may grow over such a stream. */
const MAX_GROWTH = 256 * 1_048_576;

/** A provider that answers every chat with a gigabyte of text, in events of 60 kB, for as long as it is read. */
interface Flood {
  readonly url: string;
  /** Bytes that were written to the connection last opened. */
  written(): number;
  close(): void;
}

async function startFlood(): Promise<Flood> {
  const head = { id: 'chatcmpl-flood', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' };
  const delta = { content: 'flood of words '.repeat(4_000) };
  const chunk = { ...head, choices: [{ index: 0, delta, finish_reason: null }] };
  const event = Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
  let written = 0;
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    written = 0;
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    const flow = (): void => {
      while (!outgoing.destroyed && written < GIGABYTE) {
        written += event.length;
        if (!outgoing.write(event)) return void outgoing.once('drain', flow);
      }
      outgoing.end('data: [DONE]\n\n');
    };
    flow();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    written: () => written,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Resident memory of a process, in bytes; `VmHWM` is the most that it ever was. */
function memoryOf(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
}

describe('a provider that sends a gigabyte', () => {
  let flood: Flood;
  let service: Served;
  let dataDir: string;
  beforeAll(async () => {
    flood = await startFlood();
    dataDir = temporaryFolder();
    const environment = {
      TALLY_DATA_DIR: dataDir,
      TALLY_DEVNET: 'off',
      OPENAI_BASE_URL: flood.url,
      TALLY_CONFIG: MODELS_FILE,
    };
    service = await serve(environment);
  });
  afterAll(async () => {
    await service.kill('SIGTERM');
    flood.close();
  });

  const chat = (body: object): Promise<Response> =>
    fetch(`${service.url}/v1/compute/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'openai/gpt-4o-mini',
        messages: [{ role: 'user', content: 'Say it.' }],
        stream: true,
        ...body,
      }),
    });

  const reserved = (): number => {
    const database = new DatabaseSync(join(dataDir, 'tally.db'), { readOnly: true });
    const row = database.prepare('select count(*) as held from reservations').get();
    database.close();
    return Number(row?.['held']);
  };

  it.each([
    { body: { max_tokens: 100 }, atMost: 2_000_000 },
    { body: {}, atMost: 36_000_000 },
  ])('is ended at a limit, told, receipted and billed: $body', async ({ body, atMost }) => {
    const before = memoryOf(service.pid, 'VmRSS');
    const acknowledged = new Acknowledged(`beside ${atMost}`);
    const response = await chat(body);
    const [text] = await Promise.all([response.text(), acknowledged.mint(service.url)]);
    expect(await readiness(service.url)).toBe(200);
    expect(text.length).toBeLessThan(atMost);
    expect(memoryOf(service.pid, 'VmHWM') - before).toBeLessThan(MAX_GROWTH);
    const payloads = payloadsOf(text);
    expect(JSON.parse(payloads.at(-2) ?? '')).toMatchObject({
      error: { code: 'provider_failed', message: expect.stringContaining('max_tokens') },
    });
    expect(payloads).not.toContain('[DONE]');
    const id = response.headers.get('x-receipt-id');
    const kept: unknown = await (await fetch(`${service.url}/v1/receipt/${id}`)).json();
    expect(kept).toMatchObject({
      call: { complete: false, usage_estimated: true },
      response: { hash: streamHash(payloads) },
    });
    const billing = svcIn(payloads)?.billing;
    expect(Number(billing?.charge.nano)).toBeGreaterThan(0);
    expect(reserved()).toBe(0);
    expect(flood.written()).toBeLessThan(GIGABYTE);
    expect(acknowledged.receipts).toBe(1);
    await acknowledged.expectKept(service.url);
  });

  it('is billed for what a client took that leaves, and nothing stays put aside', async () => {
    const response = await chat({ max_tokens: 1_000 });
    const reader = response.body?.getReader();
    await reader?.read();
    const id = response.headers.get('x-receipt-id');
    await reader?.cancel();
    await expect.poll(reserved).toBe(0);
    const kept: unknown = await (await fetch(`${service.url}/v1/receipt/${id}`)).json();
    expect(kept).toMatchObject({ call: { complete: false } });
  });
});
