import { existsSync, readFileSync } from 'node:fs';
import { compress, tokenizerFor } from '@tallystick/compress';
import type { Row } from './main.ts';

const repositories = new URL('../../shared/data/compression/github-repos.json', import.meta.url);

interface Toon {
  readonly encode: (value: unknown) => string;
}

/** Tokens that JSON comes to in each form, beside TOON by its own encoder where that is installed. */
export async function forms(documents: Readonly<Record<string, unknown>>): Promise<Row[]> {
  const toon = await installedToon();
  const known = existsSync(repositories)
    ? { 'GitHub repositories': JSON.parse(readFileSync(repositories, 'utf8')) as unknown }
    : {};
  return Object.entries({ ...known, ...documents }).flatMap(([name, value]) => rowsOf(name, value, toon));
}

function rowsOf(name: string, value: unknown, toon: Toon | undefined): Row[] {
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
    ...(toon === undefined
      ? []
      : [row("TOON, by its authors' encoder", tokenizer.count(toon.encode(value)))]),
    { ...row('lossless', ours), aim: { at_least: Math.floor(share(compact) * 10) / 10 } },
  ];
}

async function installedToon(): Promise<Toon | undefined> {
  const name = '@toon-format/toon';
  try {
    return (await import(name)) as Toon;
  } catch {
    process.stderr.write(`${name} is not installed: without it.\n`);
    return undefined;
  }
}
