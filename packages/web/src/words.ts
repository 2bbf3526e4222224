import type words from './words.json';

/** The page's prose. It stands in the document as data, outside the script. */
export const prose = dataOf('words') as typeof words;

/** Parses a JSON block of the page. */
export function dataOf(id: string): unknown {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}

/** Fills in `{0}`, `{1}` … in a sentence of the page's prose. */
export function formatText(sentence: string, ...values: readonly unknown[]): string {
  return sentence.replace(/\{(\d)\}/g, (_, index) => String(values[index]));
}

/** The entry for a key, if the table has one. */
export function lookUp<T>(table: Readonly<Record<string, T>>, key: string | null): T | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}
