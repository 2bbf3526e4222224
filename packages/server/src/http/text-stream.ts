import { utf8 } from '@tallystick/core';

/** Texts as bytes, each read when it is asked for. `ReadableStream.from` has no type where browsers' types count. */
export function textStream(texts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = texts[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(utf8(value));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
