import type { Block } from '../../src/index.ts';
import { readPacked } from '../packed/reader.ts';

/**
 * What blocks say that their text does not hold word for word: JSON that was rewritten without loss, and of cut JSON with tables the rows
 * that were kept, read by a reader that knows only how the text explains itself.
 */
export function decoded(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (!block.steps.some(({ method }) => method.startsWith('json'))) return [];
    return block.removed === null ? block.original : keptRows(block.text, block.removed.mark);
  });
}

const head = /^(.table\d+., )\d+( (?:rows|members) of )/;

function keptRows(text: string, mark: string): string[] {
  const lines = text.split('\n').filter((line) => line !== mark);
  const rule = lines.findIndex((line) => line.startsWith('JSON with tables: '));
  if (rule < 0) return [];
  const heads = lines.flatMap((line, at) => (at > rule + 1 && head.test(line) ? at : []));
  return heads.flatMap((at, i) => {
    // A row that was itself cut shows it by a mark.
    const rows = lines.slice(at + 1, heads[i + 1]).filter((row) => !row.includes(mark));
    const counted = (lines[at] ?? '').replace(head, `$1${rows.length}$2`);
    const [, name = ''] = /^(.table\d+.)/.exec(counted) ?? [];
    const table = readPacked([lines[rule], name, counted, ...rows].join('\n'));
    if (Array.isArray(table)) return table.map((row) => JSON.stringify(row));
    return Object.entries(table as object).map(
      ([key, own]) => `${JSON.stringify(key)}:${JSON.stringify(own)}`,
    );
  });
}
