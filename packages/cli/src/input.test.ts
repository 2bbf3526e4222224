import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readJsonLines } from './input.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-lines-'));
const file = join(folder, 'leaves.ndjson');
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string): unknown[] => {
  writeFileSync(file, text);
  return [...readJsonLines(file)];
};

describe('lines of JSON', () => {
  test('are read across chunks, with either line end, empty lines and no last line end', () => {
    const values = Array.from({ length: 5000 }, (_, unit) => ({ unit, text: 'é'.repeat(unit % 50) }));
    const lines = values.map((value) => JSON.stringify(value));
    expect(read(lines.join('\n'))).toEqual(values);
    expect(read(`\n${lines.join('\r\n\r\n')}\r\n`)).toEqual(values);
    expect(read('')).toEqual([]);
  });

  test('that are wrong are named by their number', () => {
    expect(() => read('{}\n\n{"a":1,"a":2}\n')).toThrow(/leaves\.ndjson, line 3: /);
  });

  test('are read no further than is asked', () => {
    writeFileSync(file, '1\n2\nno JSON\n');
    const [first, second] = readJsonLines(file);
    expect([first, second]).toEqual([1, 2]);
  });

  test('of more than 1 MiB are refused', () => {
    expect(() => read(`"${'x'.repeat(2 * 1024 * 1024)}"`)).toThrow(/larger than 1 MiB/);
  });

  test('of a file that is not there', () => {
    expect(() => [...readJsonLines(join(folder, 'nowhere'))]).toThrow(/There is no file/);
  });
});
