import { isDeepStrictEqual } from 'node:util';
import { compress, restore, type Tokenizer } from '../../src/index.ts';
import { readPacked } from '../packed/reader.ts';
import type { RealDocument } from './collect.ts';

/** What the lossless tier makes of a document that is sent without whitespace. */
export interface Measured {
  readonly kind: string;
  /** Tokens of the JSON without whitespace, and of what is sent. */
  readonly before: number;
  readonly after: number;
  /** Whether the package's decoder, and the reader of tables that knows only their header, give the same value. */
  readonly equal: boolean;
}

export function measure({ kind, text }: RealDocument, tokenizer: Tokenizer): Measured {
  const value = JSON.parse(text) as unknown;
  const compact = JSON.stringify(value);
  const result = compress([{ role: 'tool', content: compact }], { tokenizer });
  const restored = restore(result)[0]?.content;
  const [block] = result.blocks;
  const packed = block?.steps.at(-1)?.method === 'json-packed';
  return {
    kind,
    before: result.account.tokens_before,
    after: result.account.tokens_after,
    equal: restored === compact && (!packed || isDeepStrictEqual(readPacked(block.text), value)),
  };
}

/**
 * A line for each group of documents, by name: their number, the median of the shares saved, the share saved of all tokens, and the
 * numbers of documents that differ and that have more tokens.
 */
export function table(measured: readonly Measured[], nameOf: (one: Measured) => string): string {
  const saved = ({ before, after }: Pick<Measured, 'before' | 'after'>): number =>
    (100 * (before - after)) / before;
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  const groups = [...Map.groupBy(measured, nameOf), ['all', measured] as const];
  const lines = groups.map(([name, own]) => {
    const shares = own.map(saved).sort((a, b) => a - b);
    const whole = { before: sum(own.map(({ before }) => before)), after: sum(own.map(({ after }) => after)) };
    const numbers = [shares[Math.floor(shares.length / 2)] ?? 0, saved(whole)].map((share) =>
      share.toFixed(1),
    );
    const different = own.filter(({ equal }) => !equal).length;
    const longer = own.filter(({ before, after }) => after > before).length;
    return `| ${[name, own.length, ...numbers, different, longer].join(' | ')} |`;
  });
  const head = '| documents | number | median saved % | saved of all tokens % | different | longer |';
  return [head, '|---|---|---|---|---|---|', ...lines, ''].join('\n');
}
