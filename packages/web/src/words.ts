import type words from './words.json';

/** The page's prose: it stands in the document as data and is no part of the script. */
export const prose = dataOf('words') as typeof words;

/** A JSON block of the page's own. */
export function dataOf(id: string): unknown {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}

/** A sentence of the page's prose with `{0}`, `{1}` … filled in. */
export function formatText(sentence: string, ...values: readonly unknown[]): string {
  return sentence.replace(/\{(\d)\}/g, (_, index) => String(values[index]));
}

/** The entry of a key, where the table has one. */
export function lookUp<T>(table: Readonly<Record<string, T>>, key: string | null): T | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}
