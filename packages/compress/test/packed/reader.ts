/** Reads JSON with tables and aliases as the text's own first lines explain it. It shares no code with the package. */
export function readPacked(text: string): unknown {
  const lines = expand(text).split('\n');
  // JSON with tables: <table n> lists its rows, whose cells fill the <> in order, strings unquoted. Members make up one object.
  const [, open, close] = /^JSON with tables: (.)table n(.) lists/.exec(lines[0]!) ?? [];
  if (open === undefined) return JSON.parse(lines.join('\n')) as unknown;
  const place = new RegExp(`${open}([^${close}]*)${close}`, 'g');
  const tables = new Map<string, string>();
  for (let at = 2, rows: string[][] = []; at < lines.length; at += 1 + rows.length) {
    const [, name, count, of, pattern] = /^.(table \d+)., (\d+) (\w+) of ([^\n]*)/.exec(lines[at]!)!;
    const template = numbered(of === 'rows' ? pattern! : `{${pattern}}`, place, open);
    rows = lines.slice(at + 1, at + 1 + Number(count)).map((row) => row.split('\t'));
    const items = rows.map((row) => JSON.stringify(fill(template, row, open).value));
    const members = items.map((item) => item.slice(1, -1)).join();
    tables.set(name!, of === 'rows' ? `[${items.join()}]` : `{${members}}`);
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
    const index = (name: string) =>
      name && names.includes(name) ? names.indexOf(name) : names.push(name) - 1;
    return piece.replace(place, (_, name: string) => before + index(name) + after);
  });
  return JSON.parse(json) as unknown;
}

/** Fills a pattern with a row's cells. What has only empty cells is left out. */
function fill(pattern: unknown, row: string[], open: string): { value: unknown; cells: string[] } {
  if (typeof pattern === 'string') {
    const parts = pattern.split(open).map((part, i) => (i % 2 === 1 ? row[Number(part)]! : part));
    const cells = parts.filter((_, i) => i % 2 === 1);
    const json = /^(?:[[{"]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$|(?:true|false|null)$)/;
    const isJson = parts.length === 2 && json.test(cells[0]!);
    return { value: cells.includes('') ? undefined : isJson ? JSON.parse(cells[0]!) : parts.join(''), cells };
  }
  if (typeof pattern !== 'object' || pattern === null) return { value: pattern, cells: [] };
  const parts = Object.entries(pattern).map(([name, own]) => [name, fill(own, row, open)] as const);
  const cells = parts.flatMap(([, part]) => part.cells);
  if (cells.length > 0 && cells.every((cell) => cell === '')) return { value: undefined, cells };
  const kept = parts.filter(([, { value }]) => value !== undefined);
  if (Array.isArray(pattern)) return { value: kept.map(([, { value }]) => value), cells };
  const filled = (name: string): unknown => (name.includes(open) ? fill(name, row, open).value : name);
  return { value: Object.fromEntries(kept.map(([name, { value }]) => [filled(name), value])), cells };
}
