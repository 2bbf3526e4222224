import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeEntries, entriesPath, parseTilePath, TILE_WIDTH, tilePath } from './tiles.ts';

const index = fc.nat(Number.MAX_SAFE_INTEGER);
const width = fc.integer({ min: 1, max: TILE_WIDTH });

describe('tile paths', () => {
  test.each([
    [tilePath(0, 1_234_067), 'tile/0/x001/x234/067'],
    [tilePath(0, 0, 1), 'tile/0/000.p/1'],
    [tilePath(63, 999, 255), 'tile/63/999.p/255'],
    [tilePath(1, 1000), 'tile/1/x001/000'],
    [entriesPath(1_000_000, 256), 'tile/entries/x001/x000/000'],
    [entriesPath(Number.MAX_SAFE_INTEGER), 'tile/entries/x009/x007/x199/x254/x740/991'],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  test('reading is the inverse of writing', () => {
    fc.assert(
      fc.property(fc.nat(63), index, width, (level, at, wide) => {
        expect(parseTilePath(tilePath(level, at, wide))).toEqual({
          kind: 'hashes',
          level,
          index: at,
          width: wide,
        });
        expect(parseTilePath(entriesPath(at, wide))).toEqual({ kind: 'entries', index: at, width: wide });
      }),
    );
  });

  test.each([
    '',
    'tile/0',
    'tile/0/',
    'tile/0/1',
    'tile/0/0001',
    'tile/00/001',
    'tile/64/001',
    'tile/-1/001',
    'tile/0/x000/001',
    'tile/0/x001/x234',
    'tile/0/001/234',
    'tile/0/X001/234',
    'tile/0/001.p/0',
    'tile/0/001.p/01',
    'tile/0/001.p/256',
    'tile/0/001.p/',
    'tile/0/001.p',
    'tile/0/001/',
    '/tile/0/001',
    'tile/0/001\n',
    'tile/0/x009/x007/x199/x254/x740/992',
    'tile/0/x001/x009/x007/x199/x254/x740/991',
    'tile/data/001',
    'tile/entries/1',
    'tile/entries/0/001',
  ])('%j is none', (path) => {
    expect(parseTilePath(path)).toBeNull();
  });
});

describe('entry bundles', () => {
  test('each entry has its length before it', () => {
    const hashes = Uint8Array.from({ length: 64 }, (_, at) => at);
    const bundle = encodeEntries(hashes);
    expect(bundle).toHaveLength(68);
    expect([...bundle.slice(0, 3), ...bundle.slice(34, 37)]).toEqual([0, 32, 0, 0, 32, 32]);
    expect(encodeEntries(new Uint8Array(0))).toHaveLength(0);
  });

  test('entries are of 32 bytes', () => {
    expect(() => encodeEntries(new Uint8Array(33))).toThrow(
      expect.objectContaining({ code: 'invalid_field' }),
    );
  });
});
