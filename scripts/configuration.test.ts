import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { checkConfig } from '../packages/server/src/config/config.ts';
import type { Setting } from '../packages/server/src/config/reader.ts';
import { documentedSettings, type Row, schemaText, settingsIn, writtenSchema } from './configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('the published schema is the one that the reader and the descriptions make', () => {
  expect(writtenSchema(), 'run: node scripts/configuration.ts').toBe(schemaText());
});

describe('docs/configuration.md', () => {
  const rows = documentedSettings();
  const development = settingsIn({});
  const production = new Map(
    settingsIn({ NODE_ENV: 'production' }).map((setting) => [setting.name, setting]),
  );
  const secrets = new Set(development.filter(({ secret }) => secret).map(({ name }) => `${name}_FILE`));

  it('has a row for each setting, and no other', () => {
    const names = development.map(({ name }) => name).filter((name) => !secrets.has(name));
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...names, 'TALLY_CONFIG'].toSorted());
  });

  it.each(development.filter(({ name }) => !secrets.has(name)))(
    '$name: says what the reader does',
    (setting) => {
      const row = rows.find(({ name }) => name === setting.name);
      expect(row?.secret).toBe(setting.secret);
      expect(row?.production === '_required_').toBe(production.get(setting.name)?.required);
      const defaults = [setting.fallback, production.get(setting.name)?.fallback].map(String);
      expect(
        literalDefaults(row, setting).every((told, index) => told === null || told === defaults[index]),
      ).toBe(true);
    },
  );
});

/** The defaults in development and in production that a row gives as code; null for one that is told in words. */
function literalDefaults(row: Row | undefined, { type, name }: Setting): (string | null)[] {
  if (type === 'text' || type === 'list' || name === 'NODE_ENV') return [];
  const literal = (cell = ''): string | null => /^`([^`]*)`$/.exec(cell)?.[1] ?? null;
  const development = literal(row?.development);
  return [development, row?.production === 'same' ? development : literal(row?.production)];
}

describe('the schema and the reader agree on', () => {
  const validate = new Ajv2020({
    strict: true,
    allowMatchingProperties: true,
    formats: { date: true },
  }).compile(JSON.parse(writtenSchema()));
  const model = { id: 'local/extract-1' };

  it.each([
    [{}, true],
    [{ $schema: 'x' }, true],
    [{ settings: { PORT: 80 } }, true],
    [{ settings: { PORT: '80' } }, false],
    [{ settings: { PORT: 80.5 } }, false],
    [{ settings: { PORT: 65_536 } }, false],
    [{ settings: { PORT: -1 } }, false],
    [{ settings: { PROT: 80 } }, false],
    [{ settings: { TALLY_REGION: 'eu-1' } }, true],
    [{ settings: { TALLY_REGION: 'e u' } }, false],
    [{ settings: { TALLY_REGION: '' } }, false],
    [{ settings: { TALLY_REGION: 7 } }, false],
    [{ settings: { TALLY_REGION: null } }, false],
    [{ settings: { TALLY_PAYMENTS: 'x402' } }, true],
    [{ settings: { TALLY_PAYMENTS: 'on' } }, false],
    [{ settings: { TALLY_TRUSTED_PROXIES: ['10.0.0.0/8', '::1'] } }, true],
    [{ settings: { TALLY_TRUSTED_PROXIES: '10.0.0.0/8' } }, false],
    [{ settings: { TALLY_TRUSTED_PROXIES: 7 } }, false],
    [{ settings: { TALLY_TRUSTED_PROXIES: [''] } }, false],
    [{ settings: { TALLY_DATABASE_URL: 'postgres://db/x' } }, false],
    [{ settings: { TALLY_CONFIG: 'other.json' } }, false],
    [{ settings: [] }, false],
    [{ setting: {} }, false],
    [[], false],
    [{ models: [model] }, true],
    [{ models: [{ ...model, context: 0 }] }, false],
    [{ models: [{ ...model, price: { input: '1' } }] }, false],
    [{ models: model }, false],
  ])('%j', (document, right) => {
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify(document));
    const { faults } = checkConfig({ TALLY_CONFIG: path });
    expect({ schema: validate(document), reader: faults.length === 0 }).toEqual({
      schema: right,
      reader: right,
    });
  });
});
