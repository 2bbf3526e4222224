import type { Gold } from '../quality/document.ts';
import { isUnique, linesOf } from './text.ts';

/** A question that a rule makes, and what answers it. */
export interface Asked {
  readonly question: string;
  readonly gold: readonly Gold[];
  /** Where the answer stands in the text, if one place is enough to tell. */
  readonly at?: number;
}

/** Distance from a cell within which another of its row must be found: as the grading has it. */
const ROW = 700;
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} ._:@/+-]{2,60}$/u;

/** Asks for a cell by its column and by another cell of its row that stands in the table just once. */
export function cellQuestions(text: string): Asked[] {
  const lines = linesOf(text);
  const separator = text.includes('\t') ? '\t' : ',';
  const cellsOf = (line: string): string[] =>
    line.split(separator).map((cell) => cell.replaceAll(/^"|"$/g, '').trim());
  const head = lines.findLastIndex(
    ({ text: line }, i) => i === 0 || (line.startsWith('#') && line.includes(separator)),
  );
  const columns = cellsOf(lines[head]?.text.replace(/^#\s*/, '') ?? '');
  if (!columns.every((column) => /^\p{L}/u.test(column))) return [];
  return lines.slice(head + 1).flatMap(({ text: line, at }): Asked[] => {
    const cells = cellsOf(line);
    const key = cells.findIndex((cell) => cell.length > 3 && PLAIN.test(cell) && isUnique(cell, text));
    if (cells.length > columns.length || key < 0) return [];
    const start = at + line.indexOf(cells[key] ?? '');
    const repeats = (cell: string): boolean => text.slice(at + line.length, start + ROW).includes(cell);
    return cells.flatMap((cell, column): Asked[] =>
      column > key && cell.length > 2 && PLAIN.test(cell) && !repeats(cell)
        ? [
            {
              question: `What is ${columns[column]} where ${columns[key]} is ${cells[key]}?`,
              gold: [{ text: cells[key] ?? '', near: [cell] }],
              at: start,
            },
          ]
        : [],
    );
  });
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Asks for a member of a record by another member's value, or by the record's name; both stand in the text just once. */
export function memberQuestions(text: string): Asked[] {
  const asked: Asked[] = [];
  const usable = (value: unknown): value is string | number =>
    (typeof value === 'string' || typeof value === 'number') &&
    PLAIN.test(String(value)) &&
    /\p{L}/u.test(String(value)) &&
    isUnique(String(value), text);
  const walk = (value: unknown, name: string | undefined): void => {
    if (Array.isArray(value)) for (const one of value) walk(one, undefined);
    if (!isMembers(value)) return;
    const found = Object.entries(value).filter(([, one]) => usable(one));
    const named: [string, unknown][] = name !== undefined && usable(name) ? [['', name]] : [];
    const [key, ...others] = [...named, ...found];
    for (const [member, one] of others) {
      const by = key?.[0] === '' ? '' : ` whose ${key?.[0]} is`;
      asked.push({
        question: `What is the ${member} of the one${by} ${String(key?.[1])}?`,
        gold: [{ text: String(key?.[1]) }, { text: String(one) }],
      });
    }
    for (const [member, one] of Object.entries(value)) walk(one, member);
  };
  walk(JSON.parse(text), undefined);
  return asked;
}

/** Asks for a setting in YAML by the names of what it stands in. */
export function settingQuestions(text: string): Asked[] {
  const path: { readonly indent: number; readonly name: string }[] = [];
  return linesOf(text).flatMap(({ text: line, at }): Asked[] => {
    const [, name = '', value = ''] = /^(?:- )?([\w.-]+):(?: (.*))?$/.exec(line) ?? [];
    if (name === '') return [];
    const indent = at - text.lastIndexOf('\n', at) - 1;
    while ((path.at(-1)?.indent ?? -1) >= indent) path.pop();
    path.push({ indent, name });
    if (value === '' || value.startsWith('#') || !isUnique(line, text)) return [];
    return [
      { question: `What is ${path.map((one) => one.name).join('.')} set to?`, gold: [{ text: line }], at },
    ];
  });
}

const DECLARATION =
  /^(?:export |pub |default |async |static |const |unsafe )*(?:def|func|function|fn|class|struct|type)\s+(?:\([^)]*\)\s*)?(\w{4,})/;

/** Asks for a function or a type by its name. */
export function functionQuestions(text: string): Asked[] {
  return linesOf(text).flatMap(({ text: line, at }): Asked[] => {
    const name = DECLARATION.exec(line)?.[1];
    if (name === undefined || !isUnique(line, text)) return [];
    return [{ question: `How is ${name} declared?`, gold: [{ text: line }], at }];
  });
}

const RELEASE = /\bv?\d+\.\d+(?:\.\d+)?\b/;
const DATE = /\b\d{4}-\d\d-\d\d\b|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d{4}\b/;

/** Asks for the day of a release by its number. */
export function releaseQuestions(text: string): Asked[] {
  return linesOf(text).flatMap(({ text: line, at }): Asked[] => {
    const release = RELEASE.exec(line)?.[0];
    if (release === undefined || !DATE.test(line) || line.length > 90 || !isUnique(line, text)) return [];
    return [{ question: `When was ${release} released?`, gold: [{ text: line }], at }];
  });
}
