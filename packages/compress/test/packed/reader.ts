/** Reads JSON with tables and aliases as the text's own first lines explain it. It shares no code with the package. */
export function readPacked(text: string): unknown {
  const lines = expand(text).split('\n');
  // JSON with tables: <table n> lists its rows, whose cells fill the <> in order, strings unquoted.
  const [, open, close] = /^JSON with tables: (.)table n(.) lists/.exec(lines[0]!) ?? [];
  if (open === undefined) return JSON.parse(lines.join('\n')) as unknown;
  const place = new RegExp(`${open}([^${close}]*)${close}`, 'g');
  const tables = new Map<string, string>();
  for (let at = 2; at < lines.length; ) {
    const [, name, count, pattern] = /^.(table \d+)., (\d+) rows of ([^\n]*)/.exec(lines[at]!)!;
    const template = numbered(pattern!, place, open);
    const rows = lines.slice(at + 1, at + 1 + Number(count)).map((row) => row.split('\t'));
    tables.set(name!, JSON.stringify(rows.map((row) => fill(template, row, open).value)));
    at += 1 + rows.length;
  }
  return JSON.parse(lines[1]!.replace(place, (_, name: string) => tables.get(name)!)) as unknown;
}

/** JSON. $1 to $7 stand for these texts: */
function expand(text: string): string {
  const [, mark, count = 0] = /^JSON\. (.)1 to .(\d+) stand for these texts:\n/.exec(text) ?? [];
  if (mark === undefined) return text;
  const [, ...lines] = text.split('\n');
  const texts = lines.splice(0, Number(count)).map((line) => line.slice(line.indexOf('=') + 1));
  const alias = new RegExp(`\\${mark}(\\d+)`, 'g');
  const all = (own: string): string => own.replace(alias, (_, n: string) => all(texts[Number(n) - 1]!));
  return all(lines.join('\n'));
}

/** Numbers the places of a pattern by their cells. The same <name> is the same cell. */
function numbered(pattern: string, place: RegExp, open: string): unknown {
  const names: string[] = [];
  const json = pattern.replace(/"(?:[^"\\]|\\.)*"|[^"]+/g, (piece) => {
    const [before, after] = piece.startsWith('"') ? [open, open] : [`"${open}`, '"'];
    return piece.replace(place, (_, name: string) => {
      const known = name === '' ? -1 : names.indexOf(name);
      return before + (known < 0 ? names.push(name) - 1 : known) + after;
    });
  });
  return JSON.parse(json) as unknown;
}

/** Fills a pattern with a row's cells. What has only empty cells is left out. */
function fill(pattern: unknown, row: string[], open: string): { value: unknown; cells: string[] } {
  if (typeof pattern === 'string') {
    const parts = pattern.split(open).map((part, i) => (i % 2 === 1 ? row[Number(part)]! : part));
    const cells = parts.filter((_, i) => i % 2 === 1);
    const isJson =
      parts.length === 2 &&
      /^(?:[[{"]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$|(?:true|false|null)$)/.test(cells[0]!);
    const value = isJson ? (JSON.parse(cells[0]!) as unknown) : parts.join('');
    return { value: cells.includes('') ? undefined : value, cells };
  }
  if (typeof pattern !== 'object' || pattern === null) return { value: pattern, cells: [] };
  const parts = Object.entries(pattern).map(([name, own]) => ({ name, ...fill(own, row, open) }));
  const cells = parts.flatMap((part) => part.cells);
  if (cells.length > 0 && cells.every((cell) => cell === '')) return { value: undefined, cells };
  const kept = parts.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
  return { value: Array.isArray(pattern) ? kept.map(([, own]) => own) : Object.fromEntries(kept), cells };
}
