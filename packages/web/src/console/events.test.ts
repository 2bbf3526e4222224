import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { events } from './events.ts';

async function read(chunks: readonly Uint8Array[]): Promise<unknown[]> {
  const found: unknown[] = [];
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const event of events(body, () => {})) found.push(event);
  return found;
}

const TEXT =
  ': heartbeat\n\nevent: call\ndata: {"a":"é"}\n\ndata: one\r\ndata: two\r\n\r\nevent: call\ndata: cut off';

test('reads the events however the bytes are cut, without comments and what is cut off', async () => {
  const bytes = new TextEncoder().encode(TEXT);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const edges = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
      const chunks = edges.slice(1).map((end, at) => bytes.slice(edges[at], end));
      expect(await read(chunks)).toEqual([
        { event: 'call', data: '{"a":"é"}' },
        { event: 'message', data: 'one\ntwo' },
      ]);
    }),
  );
});
