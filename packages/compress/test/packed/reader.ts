const scalar = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** JSON with tables and few quotes: cells of a row fill the <> in order. Members make up one object. Shares no code with the package. */
export function readPacked(text: string): unknown {
  const [head = '', body = '', ...lines] = expand(text).split('\n');
  const [, brackets] = /^JSON with tables.* fill the (..) in order/.exec(head) ?? [];
  const tables = new Map<string, string>();
  for (let at = 0, rows: string[][] = []; at < lines.length; at += 1 + rows.length) {
    const [, name, count, of, pattern] = /^.(table\d+)., (\d+) (\w+) of ([^\n]*)/.exec(lines[at]!)!;
    const form = read(of === 'rows' ? pattern! : `{${pattern}}`, brackets);
    rows = lines.slice(at + 1, at + 1 + Number(count)).map((row) => row.split('\t'));
    const items = rows.map((row) => JSON.stringify(fill(form, row, brackets![0]!).value));
    const members = items.map((item) => item.slice(1, -1)).join();
    tables.set(name!, of === 'rows' ? `[${items.join()}]` : `{${members}}`);
  }
  const form = read(body, brackets);
  return brackets ? fill(form, [...tables.values()], brackets[0]!).value : form;
}

/** Let $1=… */
function expand(text: string, mark = '.', texts: readonly string[] = []): string {
  const line = new RegExp(`^(?:Let )?(${mark})${texts.length + 1}=([^\n]*)\n`).exec(text);
  if (line) return expand(text.slice(line[0].length), `\\${line[1]}`, [...texts, line[2]!]);
  const all = (own: string): string =>
    own.replace(new RegExp(`${mark}(\\d+)`, 'g'), (_, n: string) => all(texts[Number(n) - 1]!));
  return texts.length > 0 ? all(text) : text;
}

/** JSON with few quotes: names, and all but numbers, true, false and null, are strings. The same <name> is the same cell. */
function read(text: string, [open = '', close = ''] = '\0\0'): unknown {
  const names: string[] = [];
  const index = (name: string) => (name && names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  const filled = (_: string, name: string): string => open + index(name) + open;
  const place = new RegExp(`${open}([^${close}]*)${close}`, 'g');
  const json = text.replace(/"(?:[^"\\]|\\.)*"|(?<=:)[^\s,{}[\]"]+|[^\s,{}[\]":]+| /g, (own, at: number) => {
    if (own === ' ') return ',';
    if (own.startsWith(open)) return `"${own.replace(place, filled).slice(0, -1)}"`;
    if (text[at + own.length] !== ':' && scalar.test(own)) return own;
    return (own.startsWith('"') ? own : `"${own}"`).replace(place, filled);
  });
  return JSON.parse(json) as unknown;
}

/** Fills a pattern with a row's cells. What has only empty cells is left out. */
function fill(pattern: unknown, row: string[], open: string): { value: unknown; cells: string[] } {
  if (typeof pattern === 'string') {
    const parts = pattern.split(open).map((part, i) => (i % 2 === 1 ? row[Number(part)]! : part));
    const cells = parts.filter((_, i) => i % 2 === 1);
    const isJson = parts.length === 2 && (/^[[{"]/.test(cells[0]!) || scalar.test(cells[0]!));
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
