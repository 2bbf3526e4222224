import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const folder = new URL('../../../spec/schemas/', import.meta.url);
const SUFFIX = '.schema.json';

const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { $id: string };

let cached: Ajv2020 | undefined;

function ajv(): Ajv2020 {
  if (cached !== undefined) return cached;
  cached = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  for (const file of readdirSync(folder)) {
    if (file.endsWith(SUFFIX)) cached.addSchema(read(file));
  }
  return cached;
}

/** Asserts that a document is valid under `spec/schemas/<name>.schema.json`. */
export function expectSchema(name: string, document: unknown): void {
  const validate = ajv().getSchema(read(`${name}${SUFFIX}`).$id);
  expect(validate?.(document), JSON.stringify(validate?.errors, null, 2)).toBe(true);
}
