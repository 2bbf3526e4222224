/** Matches a line that says how often the previous line is repeated. A text that already has such a line is left as it is. */
const again = /^\[×(\d+) more\]$/;

/** Writes each run of equal lines once. Undefined if there is no such run, or if it could not be undone. */
export function collapseLines(text: string): string | undefined {
  const lines = text.split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    if (again.test(line)) return undefined;
    let end = at + 1;
    while (end < lines.length && lines[end] === line) end++;
    out.push(line);
    if (end - at > 2 && line !== '') out.push(`[×${end - at - 1} more]`);
    else for (let extra = at + 1; extra < end; extra++) out.push(line);
    at = end;
  }
  return out.length < lines.length ? out.join('\n') : undefined;
}

/** Returns the text that `collapseLines` was given. */
export function expandLines(text: string): string {
  const out: string[] = [];
  for (const line of text.split('\n')) {
    const count = Number(again.exec(line)?.[1] ?? 0);
    if (count === 0) out.push(line);
    else for (let i = 0; i < count; i++) out.push(out.at(-1) ?? '');
  }
  return out.join('\n');
}
