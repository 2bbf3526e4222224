// Writes the JSON Schema of the configuration file, from what the reader of settings records and from the descriptions in
// docs/configuration.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operatorSchema } from '@tallystick/inference';
import { z } from 'zod';
import { checkConfig } from '../packages/server/src/config/config.ts';
import type { Setting } from '../packages/server/src/config/reader.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const SCHEMA = pathOf('packages/server/configuration.schema.json');

/** A row of the tables in docs/configuration.md, each cell as its Markdown. */
export interface Row {
  readonly name: string;
  readonly secret: boolean;
  readonly development: string;
  readonly production: string;
  readonly description: string;
}

export function documentedSettings(): Row[] {
  const lines = readFileSync(pathOf('docs/configuration.md'), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, first = '', development = '', production = '', description = ''] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
    const [, name = ''] = /^`([A-Z][A-Z0-9_]*)`/.exec(first) ?? [];
    const row = { name, secret: first.includes('`…_FILE`'), development, production, description };
    return name === '' ? [] : [row];
  });
}

/** The settings of a service, as they are read from this environment. */
export function settingsIn(env: NodeJS.ProcessEnv): readonly Setting[] {
  return checkConfig(env).settings;
}

/** The JSON Schema (draft 2020-12) of the configuration file. */
export function configurationSchema(): object {
  const described = new Map(documentedSettings().map(({ name, description }) => [name, plain(description)]));
  const settings = settingsIn({})
    .filter(({ secret }) => !secret)
    .map((setting) => [setting.name, { ...shapeOf(setting), description: described.get(setting.name) }]);
  const { $schema, properties, ...catalogue } = z.toJSONSchema(operatorSchema, { unrepresentable: 'any' });
  return {
    $schema,
    $id: 'configuration.schema.json',
    title: 'Configuration file of Tallystick',
    description: 'docs/configuration.md',
    ...catalogue,
    properties: {
      $schema: { type: 'string' },
      settings: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(settings),
        // The keys of providers that the catalogue adds.
        patternProperties: { '^[A-Z][A-Z0-9_]*_FILE$': { type: 'string', minLength: 1 } },
      },
      ...properties,
    },
  };
}

function shapeOf({ type, choices, min, max, pattern }: Setting): object {
  switch (type) {
    case 'integer':
      return { type, minimum: min, maximum: max };
    case 'choice':
      return { enum: choices };
    case 'list':
      return { type: 'array', items: { type: 'string', minLength: 1 } };
    case 'text':
      return { type: 'string', ...(pattern === undefined ? { minLength: 1 } : { pattern: pattern.source }) };
  }
}

/** Markdown without its links and code marks. */
function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

export const schemaText = (): string => `${JSON.stringify(configurationSchema(), null, 2)}\n`;
export const writtenSchema = (): string => readFileSync(SCHEMA, 'utf8');

if (import.meta.main) writeFileSync(SCHEMA, schemaText());
