/** What a line is in a result that a database's client printed: above its rows, a row, what starts a record, or below. */
export type ResultLine = 'head' | 'row' | 'record' | 'field' | 'foot';

const dashes = '[-─═=]';
/** Matches a line that is drawn under the names of several columns. */
const columnsRule = new RegExp(
  String.raw`^\s*[+|├╞]?:?${dashes}{2,}:?(?:[\s+|┼╪:]+${dashes}{2,}:?)+[+|┤╡]?\s*$`,
  'u',
);
/** Matches a line that is drawn above or below a box. */
const boxRule = new RegExp(String.raw`^\s*[+┌╒├╞└╘](?:${dashes}{2,}[+┬╤┼╪┴╧┐╕┤╡┘╛])+\s*$`, 'u');
const soleRule = /^-{2,}$/;
const record = /^\*{3,} *\d+\. row \*{3,}$|^-\[ RECORD \d+ \][-+]*$/;
const field = /^\s*[^\s:|][^:|]*(?::| *\|)(?:\s|$)/;
const foot = /^\(\d+ rows?\)$|^(?:\d+ rows?|Empty set)\b.*\(\d[\d. a-z]*\)$/;
const cells = /[|│]/;

/** Matches the prompt of a database's client; `continued` that of the later lines of a statement. */
export const prompt =
  /^\s*(?:(?:mysql|mariadb|MariaDB \[[^\]]*\]|sqlite|SQL|\.\.\.)>|[\w./-]+[=('"*$!^-]{1,2}[#>]|['"`]?->)(?=\s|$)/;
export const continued = /^\s*(?:\.\.\.>|[\w./-]+[('"*$-][#>]|['"`]?->)(?=\s|$)/;

/** Matches the first line of a statement, and what ends its last one. */
export const statement =
  /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|SHOW|DESC(?:RIBE)?|EXPLAIN|TABLE|VALUES|CALL|SET|USE|PRAGMA)\b/i;
export const ended = /(?:;|\\[gG]x?)\s*(?:--.*)?$/;

/** Whether a paragraph is a statement, or several. */
export function isStatement(paragraph: string): boolean {
  const text = paragraph.trim();
  return (statement.test(text) || prompt.test(text)) && ended.test(text);
}

/** Whether a text has results that a database's client printed. */
export function hasResults(text: string): boolean {
  return /[-─═]{2}|\. row \*/.test(text) && resultLines(text.split('\n')).some((line) => line !== undefined);
}

const scripted = /^\s*(?:BEGIN|END|DECLARE|DELIMITER|RETURN|LOOP|IF)\b/i;
const remark = /^\s*(?:--|#|\/\*|\*)/;

/**
 * Whether lines are statements with what they printed, without any frame: behind the end of a statement stand lines that neither begin one nor
 * remark on one. Scripts have none of these.
 */
export function hasOutput(lines: readonly string[]): boolean {
  if (lines.some((line) => scripted.test(line))) return false;
  let statements = 0;
  let printed = 0;
  let open = false;
  for (const line of lines) {
    if (remark.test(line) || line.trim() === '') continue;
    if (!open && (statement.test(line) || prompt.test(line))) {
      statements++;
      open = true;
    } else if (!open && !ended.test(line)) printed++;
    if (ended.test(line)) open = false;
  }
  return statements >= lines.length * 0.1 && statements > 1 && printed >= lines.length * 0.15;
}

/** Most lines of a result with one column, which only the number of rows below it tells from other text. */
const MOST_SOLE = 400;

/** For each line, what it is in a printed result; undefined if it is in none. */
export function resultLines(lines: readonly string[]): (ResultLine | undefined)[] {
  const found: (ResultLine | undefined)[] = lines.map(() => undefined);
  const at = (i: number): string => lines[i]?.trimEnd() ?? '';
  const isRow = (i: number): boolean => at(i).trim() !== '' && !prompt.test(at(i)) && !foot.test(at(i));
  for (let i = 0; i < lines.length; i++) {
    if (found[i] !== undefined) continue;
    if (foot.test(at(i))) found[i] = 'foot';
    else if (record.test(at(i))) {
      found[i] = 'record';
      while (isRow(i + 1) && field.test(at(i + 1)) && !record.test(at(i + 1))) found[++i] = 'field';
    } else {
      const boxed = boxRule.test(at(i));
      const named = boxed || i === 0 || found[i - 1] !== undefined || !isRow(i - 1) ? i : i - 1;
      if (!boxed && (named === i || !(columnsRule.test(at(i)) || isSole(i)))) continue;
      const split = cells.test(at(named));
      if (boxed && isRow(i + 1) && boxRule.test(at(i + 2))) i += 2;
      found.fill('head', named, i + 1);
      const divided = boxed || split;
      const goesOn = (n: number): boolean =>
        isRow(n) && (!divided || cells.test(at(n)) || boxRule.test(at(n)));
      while (goesOn(i + 1)) found[++i] = 'row';
    }
  }
  return found;

  function isSole(i: number): boolean {
    if (!soleRule.test(at(i).trim())) return false;
    let end = i + 1;
    while (end < i + MOST_SOLE && isRow(end)) end++;
    return foot.test(at(end));
  }
}
