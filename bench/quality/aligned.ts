/** A table in Markdown with columns of equal width. */
export function* aligned(head: readonly string[], rows: readonly (readonly string[])[]): Generator<string> {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  yield line(head);
  yield `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  for (const row of rows) yield line(row);
}
