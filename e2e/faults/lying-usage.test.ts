import { afterAll, beforeAll, expect, it } from 'vitest';
import { payloadsOf, type Svc, svcIn } from '../../packages/server/test/compute.ts';
import { Acknowledged } from '../acknowledged.ts';
import { expectReceipt, type Front, hashOf, serveUntrusted, trustIn } from '../clients.ts';
import { metric } from '../log-client.ts';
import { type Env, post, residentMiB, serve, tally, temporaryFolder } from '../process.ts';
import { MEMORY_MIB, readiness } from './load.ts';

const MODEL = 'openai/gpt-4o-mini';
const WORDS = 200;
const LIES = [
  { prompt_tokens: 1e9, completion_tokens: 1e9, total_tokens: 2e9 },
  { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 },
  { prompt_tokens: -5, completion_tokens: 1.5, total_tokens: -3.5 },
];

let env: Env;
let front: Front;
beforeAll(async () => {
  env = { TALLY_DATA_DIR: temporaryFolder(), TALLY_LOG_LEVEL: 'warn' };
  const service = await serveUntrusted(env);
  front = { ...service, trust: await trustIn(service.url) };
});

let closed = false;
afterAll(async () => {
  if (!closed) await front.close();
});

/** Prompt and completion as the bill counts them are those of the text: nobody is billed for a lie. */
function expectOwnCount({ receipt }: Svc): void {
  expect(receipt.call).toMatchObject({ usage_estimated: true, complete: true });
  expect(Number(receipt.call['prompt_tokens'])).toBeLessThan(50);
  expect(Number(receipt.call['completion_tokens'])).toBeGreaterThanOrEqual(WORDS - 2);
  expect(Number(receipt.call['completion_tokens'])).toBeLessThanOrEqual(WORDS + 2);
}

it('a provider that lies about tokens: every call is billed by the text, receipted and kept, and the provider is named', async () => {
  const acknowledged = new Acknowledged('lying');
  const kept = new Map<string, unknown>();
  const ask = async (stream: boolean): Promise<string> => {
    const messages = [{ role: 'user', content: 'Say it.' }];
    const body = { model: MODEL, messages, stream };
    const { status, text } = await post(`${front.baseURL}/chat/completions`, body);
    expect(status, text).toBe(200);
    return text;
  };
  for (const wrongUsage of LIES) {
    front.upstream.always({ pieces: Array.from({ length: WORDS }, () => 'ferry '), wrongUsage });
    const whole = await ask(false);
    const svc = (JSON.parse(whole) as { svc: Svc }).svc;
    await expectReceipt(front, svc, { request: svc.receipt.request.hash, response: hashOf(whole) });
    const streamed = svcIn(payloadsOf(await ask(true)));
    for (const one of [svc, streamed]) {
      if (one === null) throw new Error('There is no svc.');
      expectOwnCount(one);
      kept.set(one.receipt.receipt_id, one.receipt);
    }
    expect(await acknowledged.mint(front.url)).toBe(200);
    expect(await readiness(front.url)).toBe(200);
  }
  const doubted = await (await fetch(`${front.url}/metrics`)).text();
  const counts = [
    ...doubted.matchAll(/^compute_usage_doubted_total\{[^}]*provider="openai"[^}]*\} (\d+)$/gm),
  ];
  expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(kept.size);

  const { stderr } = await front.close();
  closed = true;
  const line = stderr.split('\n').find((text) => text.includes('reported an implausible token count'));
  expect(JSON.parse(line ?? '')).toMatchObject({ level: 'warn', provider: 'openai', model: MODEL });
  const again = await serve({ ...env, TALLY_DEVNET: 'off' });
  await acknowledged.expectKept(again.url);
  for (const [id, receipt] of kept) {
    expect(await (await fetch(`${again.url}/v1/receipt/${id}`)).json()).toEqual(receipt);
  }
  expect(await metric(again.url, 'anchor_log_failures_total')).toBe(0);
  expect(residentMiB(again.pid)).toBeLessThan(MEMORY_MIB);
  await again.kill('SIGTERM');
  expect(await tally(['ledger', 'check'], env)).toMatchObject({ code: 0 });
});
