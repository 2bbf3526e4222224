import { BUDGETS, type Case, checked, type Document, fetched } from './document.ts';
import { cellText, drawRows, type Field, type Fields, type Row } from './rows.ts';
import { namesIn, type Question, read, splitQuestions } from './sources.ts';

interface Planted {
  readonly id: string;
  readonly at: number;
  readonly cells: readonly string[];
}

/** Documents whose material is tables in Markdown and CSV. */
export function tableDocuments(): Document[] {
  return namesIn('tables').map(({ name, path }) => {
    const { body, questions } = splitQuestions(read(path));
    const markdown = /^format: markdown$/m.test(body);
    const fields = fieldsOf(body);
    const planted = plantedOf(body, markdown ? ' | ' : ',');
    const count = Number(/^rows: (\d+)$/m.exec(body)?.[1]);
    const columns = Object.keys(fields);
    const rows = drawRows(
      fields,
      count,
      planted.map((one) => withRow(one, columns)),
      `table ${name}`,
    );
    const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
    const id = `tables/${name}`;
    return checked({
      id,
      modality: 'tables',
      messages: fetched('export_table', [markdown ? asMarkdown(columns, cells) : asCsv(columns, cells)]),
      cases: questions.map((one, i) => caseOf(`${id}#${name}-${i + 1}`, name, one, planted)),
      budgets: BUDGETS,
      headings: [],
    });
  });
}

function withRow({ at, cells }: Planted, columns: readonly string[]): { at: number; row: Row } {
  return { at, row: Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])) };
}

function asMarkdown(columns: readonly string[], cells: readonly (readonly string[])[]): string {
  const line = (all: readonly string[]): string => `| ${all.join(' | ')} |`;
  return `${[line(columns), line(columns.map(() => '---')), ...cells.map(line)].join('\n')}\n`;
}

function asCsv(columns: readonly string[], cells: readonly (readonly string[])[]): string {
  return `${[columns, ...cells].map((all) => all.join(',')).join('\n')}\n`;
}

/** Parses lines `- name: kind arguments`; choices are separated by ` | `. */
function fieldsOf(body: string): Fields {
  const lines = /\nfields:\n((?:- .*\n)+)/.exec(body)?.[1]?.trim().split('\n') ?? [];
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', kind = '', rest = ''] = /^- (.+?): (\w+) (.*)$/.exec(line) ?? [];
      return [name, fieldOf(kind, rest)];
    }),
  );
}

function fieldOf(kind: string, rest: string): Field {
  if (kind === 'pick') return { pick: rest.split(' | ') };
  if (kind === 'hex') return { hex: Number(rest) };
  const [first = '', second = '', third = ''] = rest.split(' ');
  if (kind === 'serial') return { serial: first, from: Number(second), step: Number(third) };
  if (kind === 'int') return { int: [Number(first), Number(second)] };
  if (kind === 'decimal') return { decimal: [Number(first), Number(second)] };
  return kind === 'date' ? { date: [first, second] } : { time: [first, second] };
}

/** Parses lines `- id position: cells`. */
function plantedOf(body: string, separator: string): Planted[] {
  const lines = /\ngold:\n((?:- .*\n?)+)/.exec(body)?.[1]?.trim().split('\n') ?? [];
  return lines.map((line) => {
    const [, id = '', at = '', cells = ''] = /^- (\w+) ([\d.]+): (.*)$/.exec(line) ?? [];
    return { id, at: Number(at), cells: cells.split(separator) };
  });
}

/** Makes a case. Its references are `row=text that must be kept`; the text may contain blanks. */
function caseOf(
  id: string,
  source: string,
  { kind, refs, question, wording }: Question,
  planted: readonly Planted[],
): Case {
  const goldRows = refs
    .join(' ')
    .split(/ (?=g\d=)/)
    .map((one) => one.split('=', 2));
  const near = Map.groupBy(goldRows, ([row]) => row ?? '');
  const gold = [...near].map(([row, all]) => ({
    text: planted.find((one) => one.id === row)?.cells[0] ?? row,
    near: all.map(([, value]) => value ?? ''),
  }));
  return { id, kind, question, wording, source, gold };
}
