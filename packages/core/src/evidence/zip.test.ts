import { expect, it } from 'vitest';
import { crc32 } from './crc32.ts';
import { layoutZip, localHeader, type ZipLayout } from './zip-layout.ts';
import { type ByteSource, readZip } from './zip-reader.ts';

it('a checksum is CRC-32, in one piece or several', () => {
  const text = Buffer.from('123456789');
  expect(crc32(text).toString(16)).toBe('cbf43926');
  expect(crc32(text.subarray(4), crc32(text.subarray(0, 4)))).toBe(crc32(text));
});

/** An archive whose files are all zeros, which nobody holds in memory. */
function sparse(layout: ZipLayout): ByteSource {
  const headers = new Map(layout.places.map((place) => [place.offset, localHeader(place)]));
  const { directoryAt, directory } = layout;
  return {
    size: layout.size,
    async read(from, to) {
      const found = new Uint8Array(to - from);
      found.set(headers.get(from)?.subarray(0, to - from) ?? []);
      const tail = directory.subarray(Math.max(0, from - directoryAt), Math.max(0, to - directoryAt));
      if (tail.length > 0) found.set(tail, Math.max(0, directoryAt - from));
      return found;
    },
  };
}

it.each([
  ['of 100 bytes', [50, 50]],
  ['of 9 GB, by ZIP64', [2 ** 31, 2 ** 31, 2 ** 31, 10, 2 ** 31, 0, 7]],
  ['of 130,000 files, by ZIP64', Array<number>(130_000).fill(1)],
])('an archive %s reads back as it was laid out', async (_, sizes) => {
  const files = sizes.map((size, index) => ({ path: `part/${index}.bin`, size, crc32: index }));
  const layout = layoutZip(files);
  const places = await readZip(sparse(layout));
  expect(places).toEqual(layout.places);
  expect(places.map(({ path, size, crc32 }) => ({ path, size, crc32 }))).toEqual(files);
});
