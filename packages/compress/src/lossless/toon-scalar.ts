import { isBareScalar, stringScalar } from '../json/cell.ts';
import { stringEnd } from '../json/minify.ts';
import { type Scalar, stringValue } from '../json/tree.ts';

/** Matches what an unquoted string of TOON may not hold, begin or end with. To JSON, numbers with leading zeros are text. */
const mustQuote = /^$|^[\s-]|\s$|[:"\\[\]{},\p{Cc}\p{Zl}\p{Zp}]|^\d+$/u;
const bareKey = /^[A-Za-z_][\w.]*$/;

/** Writes a scalar as TOON. A quoted string is written as in JSON, escapes included, so that every string can be. */
export function toonScalar({ lexeme }: Scalar): string {
  if (!lexeme.startsWith('"')) return lexeme;
  const value = stringValue(lexeme);
  return mustQuote.test(value) || isBareScalar(value) || !value.isWellFormed() ? lexeme : value;
}

export function toonKey(name: string): string {
  return bareKey.test(name) ? name : JSON.stringify(name);
}

export function fromToonScalar(text: string): Scalar {
  return text.startsWith('"') || isBareScalar(text) ? { kind: 'scalar', lexeme: text } : stringScalar(text);
}

/** Splits a row into its cells, at commas outside quotation marks. */
export function splitCells(row: string): string[] {
  const cells: string[] = [];
  let from = 0;
  for (let at = 0; at < row.length; ) {
    if (at === from && row[at] === '"') at = stringEnd(row, at);
    else if (row[at] === ',') {
      cells.push(row.slice(from, at));
      from = ++at;
    } else at++;
  }
  cells.push(row.slice(from));
  return cells;
}

/** The key that a line begins with, and where it ends. */
export function leadingKey(line: string): { name: string; end: number } | undefined {
  if (line.startsWith('"')) {
    const end = stringEnd(line, 0);
    return { name: stringValue(line.slice(0, end)), end };
  }
  const found = /^[A-Za-z_][\w.]*/.exec(line)?.[0];
  return found === undefined ? undefined : { name: found, end: found.length };
}
