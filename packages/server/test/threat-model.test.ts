import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/threat-model.md', root), 'utf8');

interface Row {
  readonly threat: string;
  readonly file: string;
  readonly title: string;
}

/** The rows of every table whose last column is `test`: `file` > `title` of a test, or of a table or group of tests. */
function rowsOf(text: string): Row[] {
  return text
    .split(/^## /m)
    .filter((section) => /^\|[^\n]*\| test +\|$/m.test(section))
    .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| ')))
    .filter((line) => !/\| test +\|$|^\| -/.test(line))
    .map((line) => {
      const cells = line.split(' | ').map((cell) => cell.replace(/^\| | *\|$/g, '').trim());
      const [, file = '', title = ''] = /^`([^`]+)` > `([^`]+)`$/.exec(cells.at(-1) ?? '') ?? [];
      return { threat: cells[0] ?? '', file, title };
    });
}

/** Whether a file has a test, or a group, of exactly this title. */
function hasTest(source: string, title: string): boolean {
  return ["'", '`', '"'].some((quote) => {
    const at = source.indexOf(`${quote}${title}${quote}`);
    return at > 0 && /\(\s*$/.test(source.slice(0, at));
  });
}

const rows = rowsOf(page);

describe('docs/threat-model.md', () => {
  it('has its rows, and no threat twice', () => {
    expect(rows.length).toBeGreaterThanOrEqual(60);
    expect(new Set(rows.map(({ threat }) => threat)).size).toBe(rows.length);
  });

  it.each(rows)('$threat: its test is there', ({ file, title }) => {
    expect(file).toMatch(/^(?:packages\/\w+|e2e)\/[\w/.-]+(?:\.test|-suite)\.ts$/);
    expect(existsSync(new URL(file, root)), file).toBe(true);
    expect(hasTest(readFileSync(new URL(file, root), 'utf8'), title), `${file}: ${title}`).toBe(true);
  });

  it('would notice a test that is gone', () => {
    const [row] = rows;
    const source = readFileSync(new URL(row?.file ?? '', root), 'utf8');
    expect(hasTest(source, `${row?.title} no more`)).toBe(false);
    expect(hasTest(`// it says '${row?.title}'`, row?.title ?? '')).toBe(false);
  });

  it('gives a reason for each threat that nothing covers', () => {
    const [, gaps = ''] = page.split('## Not covered');
    const lines = gaps.split('\n').filter((line) => line.startsWith('| '));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line).toMatch(/^\| .+ \| .+ \|$/);
  });
});
