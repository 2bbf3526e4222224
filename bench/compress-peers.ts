import { existsSync, readFileSync } from 'node:fs';
import { compress, tokenizerFor } from '@tallystick/compress';
import { encode } from '@toon-format/toon';
import type { Row } from './report.ts';

const repositories = new URL('../../shared/data/compression/github-repos.json', import.meta.url);

/** Number of tokens of JSON documents in each form, beside TOON by its own encoder. */
export function forms(documents: Readonly<Record<string, unknown>>): Row[] {
  const known = existsSync(repositories)
    ? { 'GitHub repositories': JSON.parse(readFileSync(repositories, 'utf8')) as unknown }
    : {};
  return Object.entries({ ...known, ...documents }).flatMap(([name, value]) => rowsOf(name, value));
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
  ];
}
