import { BUDGETS, type Case, checked, type Document, fetched, type Kind } from './document.ts';
import { cellText, drawRows, type Fields, type Planted, type Row } from './rows.ts';
import { namesIn, readJson } from './sources.ts';

interface Records {
  readonly title: string;
  readonly shape: 'uniform' | 'nested' | 'paginated';
  readonly indent: number;
  readonly rows: number;
  /** Rows per page, if there are pages. */
  readonly page?: number;
  readonly fields: Fields;
  readonly gold: readonly (Planted & { readonly id: string })[];
  readonly questions: readonly {
    readonly kind: Kind;
    /** Texts that must be kept beside a row's first cell, by row. */
    readonly gold: Readonly<Record<string, readonly string[]>>;
    readonly question: string;
  }[];
}

/** Documents whose material is JSON from tools. */
export function recordDocuments(): Document[] {
  return namesIn('records').map(({ name, path }) => {
    const records = readJson(path) as Records;
    const rows = drawRows(records.fields, records.rows, records.gold, `records ${name}`);
    const id = `records/${name}`;
    return checked({
      id,
      modality: records.shape === 'nested' ? 'nested JSON' : 'JSON',
      messages: fetched(records.title, textsOf(rows, records)),
      cases: casesOf(id, name, records),
      budgets: BUDGETS,
      headings: [],
    });
  });
}

function textsOf(rows: readonly Row[], { shape, page = rows.length, indent }: Records): string[] {
  if (shape === 'uniform') return [JSON.stringify(rows, null, indent)];
  if (shape === 'nested') return [JSON.stringify({ total: rows.length, items: rows }, null, indent)];
  const pages = Math.ceil(rows.length / page);
  return Array.from({ length: pages }, (_, i) => {
    const results = rows.slice(i * page, (i + 1) * page);
    return JSON.stringify({ page: i + 1, pages, total: rows.length, results }, null, indent);
  });
}

function casesOf(document: string, source: string, { gold, questions }: Records): Case[] {
  const keys = new Map(gold.map(({ id, row }) => [id, keyOf(row)]));
  return questions.map(({ kind, gold: needed, question }, i) => ({
    id: `${document}#${source}-${i + 1}`,
    kind,
    question,
    wording: 'paraphrased',
    source,
    gold: Object.entries(needed).map(([row, near]) => ({ text: keys.get(row) ?? row, near })),
  }));
}

/** The first cell of a row, which names it. */
function keyOf(row: Row): string {
  const [first] = Object.values(row);
  return cellText(first);
}
