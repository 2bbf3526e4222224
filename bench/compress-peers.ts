import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compress, tokenizerFor } from '@tallystick/compress';
import { encode } from '@toon-format/toon';
import { publicDataFolder } from '../scripts/public-data.ts';
import type { Row } from './report.ts';

/** The same for a list that others published. @throws MissingData */
export function publishedForms(): Row[] {
  const path = join(publicDataFolder('compression'), 'github-repos.json');
  return rowsOf('GitHub repositories', JSON.parse(readFileSync(path, 'utf8')) as unknown);
}

/** Number of tokens of JSON documents in each form, beside TOON by its own encoder. */
export function forms(documents: Readonly<Record<string, unknown>>): Row[] {
  return Object.entries(documents).flatMap(([name, value]) => rowsOf(name, value));
}

/** Percent of the tokens without whitespace that are to be saved of a list whose items have the same flat members. */
const UNIFORM_AIM = 60;

function isUniform(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const shapes = new Set(value.map((item: object) => Object.keys(item).join()));
  return (
    shapes.size === 1 &&
    value.every((item: object) => Object.values(item).every((one) => typeof one !== 'object'))
  );
}

function rowsOf(name: string, value: unknown): Row[] {
  const tokenizer = tokenizerFor();
  const pretty = JSON.stringify(value, null, 2);
  const before = tokenizer.count(pretty);
  const share = (tokens: number): number => (100 * (before - tokens)) / before;
  const row = (form: string, tokens: number): Row => ({
    name: `${name}, ${before.toLocaleString('en')} tokens: ${form}`,
    value: share(tokens),
    unit: '% fewer than pretty',
  });
  const compact = tokenizer.count(JSON.stringify(value));
  const ours = compress([{ role: 'tool', content: pretty }], { tokenizer }).account.tokens_after;
  return [
    row('compact JSON', compact),
    row("TOON, by its authors' encoder", tokenizer.count(encode(value))),
    { ...row('lossless', ours), aim: { at_least: Math.floor(share(compact) * 10) / 10 } },
    {
      name: `${name}, ${compact.toLocaleString('en')} tokens without whitespace: lossless`,
      value: (100 * (compact - ours)) / compact,
      unit: '% fewer than without whitespace',
      ...(isUniform(value) && { aim: { at_least: UNIFORM_AIM } }),
    },
  ];
}
