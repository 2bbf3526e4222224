import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Request as OtherRequest } from 'undici';
import { expect, it } from 'vitest';
import { receiptFetch } from './receipt-fetch.ts';

const [CALL] = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/calls-chat.json', import.meta.url), 'utf8'),
) as [{ request: string; response: string }];

it('reports once what its reader leaves while it waits', async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
  const headers = { 'x-receipt-id': 'r_env_1_00000000' };
  let reports = 0;
  const send = receiptFetch({
    fetch: async () => new Response(body, { headers }),
    onCall: () => {
      reports += 1;
    },
  });
  const reader = (await send('https://models.example/v1')).body?.getReader();
  await reader?.read();
  const waiting = reader?.read();
  await setImmediate();
  await reader?.cancel();
  await waiting;
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  expect(reports).toBe(1);
});

it('lets a request fail as it does by itself, and nothing else', async () => {
  const used = new Request('https://models.example/v1', { method: 'POST', body: 'a' });
  await used.text();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  await expect(receiptFetch({})(used)).rejects.toBeInstanceOf(TypeError);
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it('compares a request that another implementation of fetch has made', async () => {
  const verdicts: boolean[] = [];
  const send = receiptFetch({
    fetch: async () => new Response(CALL.response, { headers: { 'x-receipt-id': 'r_env_1_00000000' } }),
    onCall: ({ verdict }) => void verdicts.push(verdict.valid),
  });
  const url = 'https://models.example/v1';
  for (const body of [CALL.request, '{}']) {
    const init = { method: 'POST', body };
    await (await send(url, init)).text();
    await (await send(new OtherRequest(url, init) as unknown as Request)).text();
  }
  expect(verdicts).toEqual([true, true, false, false]);
});
