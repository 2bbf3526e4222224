/**
 * Names as a sentence lists alternatives: `a`, `a or b`, `a, b or c`. `Intl.ListFormat` says the same, but V8 looks through every language that it
 * knows for the first of them: 20 ms or more of a start, and memory that never comes back.
 */
export function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
}
