import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { upload } from './client.ts';

const MIB = 1024 * 1024;
const PIECES = 512;

test('an upload holds no more of its body than is on its way', async () => {
  let received = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Uint8Array) => {
      received += chunk.length;
    });
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const before = process.memoryUsage().arrayBuffers;
  let held = 0;
  function* pieces(): Generator<Uint8Array, void, undefined> {
    for (let piece = 0; piece < PIECES; piece++) yield Buffer.alloc(MIB, ' ');
    held = process.memoryUsage().arrayBuffers - before;
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await upload(url, '/', pieces(), {})).toMatchObject({ body: {} });
  server.closeAllConnections();
  server.close();
  expect(received).toBe(PIECES * MIB);
  expect(held / MIB).toBeLessThan(PIECES / 2);
});
