import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTransport, piecesUpload } from '../src/http/index.ts';
import { answer, counting, loopback } from './loopback.ts';

const MIB = 1024 * 1024;

test('an upload holds no more of its body than is on its way', async () => {
  const count = 512;
  const service = await counting(answer(200));
  const before = process.memoryUsage().arrayBuffers;
  let held = 0;
  function* pieces(): Generator<Uint8Array<ArrayBuffer>, void> {
    for (let piece = 0; piece < count; piece++) yield new Uint8Array(MIB).fill(0x20);
    held = process.memoryUsage().arrayBuffers - before;
  }
  const transport = createTransport({ baseUrl: service.url });
  expect(await transport.upload('/', piecesUpload({ pieces, repeatable: false }))).toMatchObject({
    json: {},
  });
  expect(service.bytes()).toBe(count * MIB);
  expect(held / MIB).toBeLessThan(count / 2);
});

test('the time of an upload starts anew with each piece that is sent', async () => {
  const service = await loopback(answer(200));
  async function* pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    for (let piece = 0; piece < 4; piece++) {
      await setTimeout(1_500);
      yield Uint8Array.of(0x20);
    }
  }
  const transport = createTransport({ baseUrl: service.url, timeoutMs: 5_000, retries: 0 });
  await transport.upload('/', piecesUpload({ pieces, repeatable: false }));
  expect(service.arrived).toMatchObject([{ body: '    ' }]);
});

test('a download is given to the byte, whatever it is', async () => {
  const service = await loopback(answer(503, { code: 'unavailable' }), answer(200, 'no JSON\n'));
  const transport = createTransport({ baseUrl: service.url });
  expect(new TextDecoder().decode(await transport.download('/checkpoint', 'text/plain'))).toBe('no JSON\n');
  expect(service.arrived.at(-1)).toMatchObject({
    method: 'GET',
    path: '/checkpoint',
    headers: { accept: 'text/plain' },
  });
  await expect(
    createTransport({ baseUrl: (await loopback(answer(404, { code: 'not_found' }))).url }).download(
      '/x',
      '*/*',
    ),
  ).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('lines end with an error where nothing comes for a minute, however long their reader takes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fetch = async (_: string, { signal }: RequestInit = {}) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('data: {}\n'));
          signal?.addEventListener('abort', () => controller.error(signal.reason));
        },
      }),
    );
  const lines = createTransport({ baseUrl: 'https://tails.example', fetch }).lines('/x', 'text/event-stream');
  expect((await lines.next()).value).toBe('data: {}');
  await vi.advanceTimersByTimeAsync(600_000);
  const next = lines.next().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await next).toMatchObject({
    code: 'unavailable',
    message: 'https://tails.example did not answer within 60000 ms.',
  });
});
