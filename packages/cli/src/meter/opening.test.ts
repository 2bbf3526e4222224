import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '@tallystick/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, test } from 'vitest';
import { openingCheck, readOpening } from './opening.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-opening-'));
afterAll(() => rmSync(folder, { recursive: true }));

const spec = (path: string): string =>
  readFileSync(new URL(`../../../../spec/${path}`, import.meta.url), 'utf8');
const blocks = [...spec('metering.md').matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
const shown = blocks.find((text) => text.includes('svc-metering-opening-v1')) ?? '';

const isOpening = new Ajv2020()
  .addSchema(JSON.parse(spec('schemas/common.schema.json')) as object)
  .compile(JSON.parse(spec('schemas/opening.schema.json')) as object);

const read = (text: string) => {
  writeFileSync(join(folder, 'opening.json'), text);
  return readOpening(join(folder, 'opening.json'));
};

test('the opening that the specification shows opens the receipt that it shows', async () => {
  const receipt = JSON.parse(blocks.at(-1) ?? '') as JsonValue;
  const opening = await read(shown);
  expect(isOpening(JSON.parse(shown))).toBe(true);
  expect(openingCheck(receipt, opening)).toMatchObject({ ok: true });
  expect(openingCheck(receipt, { ...opening, value: 'SN-000118' })).toMatchObject({ ok: false });
  expect(openingCheck(receipt, { ...opening, label: 'settlement' })).toMatchObject({
    ok: false,
    detail: 'The receipt has no commitment to a settlement.',
  });
});

test.each<[string, object]>([
  ['another type', { type: 'svc-metering-opening-v2' }],
  ['an unknown label', { label: 'price' }],
  ['one member more', { note: '' }],
  ['a value that is no text', { value: 117 }],
  ['a key too short', { subkey: 'ab' }],
])('%s is no opening', async (_, change) => {
  const changed = { ...(JSON.parse(shown) as object), ...change };
  expect(isOpening(changed)).toBe(false);
  await expect(read(JSON.stringify(changed))).rejects.toThrow(/./);
});
