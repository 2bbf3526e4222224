import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { outputs } from '../scripts/page.ts';
import { navigation } from '../src/navigation.ts';

const built = await Promise.all(
  Object.entries(outputs).map(async ([file, build]) => ({ file, ...(await build()) })),
);
/** Pages of one file: their scripts, styles and words stand in them. */
const pages = built.flatMap(({ file, contents, script, later = null, together = null }) =>
  script === undefined
    ? []
    : [{ name: file.replace('.html', ''), html: String(contents), script, later, together }],
);
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Bytes of a page’s script, gzipped. */
const LIMIT = 40_000;

const folder = mkdtempSync(join(tmpdir(), 'tally-pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('builds the same bytes in another process, folder and time zone', () => {
  const script = fileURLToPath(new URL('../scripts/build.ts', import.meta.url));
  const env = { ...process.env, TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8' };
  execFileSync(process.execPath, [script, '--to', folder], { cwd: tmpdir(), env, stdio: 'ignore' });
  expect(readdirSync(folder).toSorted()).toEqual(['.inputs', 'assets', ...Object.keys(outputs)].toSorted());
  const changed = built.filter(
    ({ file, contents }) => !Buffer.from(contents).equals(readFileSync(join(folder, file))),
  );
  expect(changed.map(({ file }) => file)).toEqual([]);
});

test.each(built)('$file is served as the sources make it', ({ file, contents }) => {
  const served = readFileSync(new URL(`../built/${file}`, import.meta.url));
  expect(served.equals(Buffer.from(contents)), 'Run npm run build:web.').toBe(true);
});

test('the assets are served as the sources make them, and no others', () => {
  const made = [...new Map(built.flatMap(({ assets }) => [...(assets ?? [])]))];
  const read = (of: URL | string): string[] => readdirSync(of).toSorted();
  const served = new URL('../built/assets/', import.meta.url);
  expect(read(served)).toEqual(
    made.map(([file]) => (file.endsWith('.woff2') ? file : `${file}.gz`)).toSorted(),
  );
  expect(read(join(folder, 'assets'))).toEqual(read(served));
  for (const [file, contents] of made) {
    const bytes = file.endsWith('.woff2')
      ? readFileSync(new URL(file, served))
      : gunzipSync(readFileSync(new URL(`${file}.gz`, served)));
    expect(bytes.equals(contents), file).toBe(true);
  }
});

test('the console needs less than 80 kB of scripts at once, 220 kB in all, and 70 kB of type faces, gzipped', () => {
  const { assets = new Map(), contents } = built.find(({ file }) => file === 'console.html') ?? {};
  const sizes = (files: Iterable<string>): number =>
    [...files]
      .map((file) => gzipSync(assets.get(file) ?? '', { level: 9 }).length)
      .reduce((one, other) => one + other, 0);
  const ending = (end: string): string[] => [...assets.keys()].filter((file) => file.endsWith(end));
  // The entry, and what it imports before it runs; everything else is loaded by a page that needs it.
  const atOnce = new Set(ending('.js').filter((file) => file.startsWith('console-')));
  for (const file of atOnce) {
    const script = Buffer.from(assets.get(file) ?? '').toString();
    for (const [, name = ''] of script.matchAll(/(?:from|import)"\/assets\/([\w-]+\.js)"/g)) atOnce.add(name);
  }
  expect(atOnce.size).toBeGreaterThan(1);
  expect(sizes(atOnce)).toBeLessThan(80_000);
  expect(sizes(ending('.js'))).toBeLessThan(220_000);
  expect(sizes(ending('.woff2'))).toBeLessThan(70_000);
  expect(String(contents)).not.toMatch(/<style|style=|https?:|\{\{\w+\}\}/);
});

test('the verifying pages have a second script under 71 kB gzipped, which is text until it is needed', () => {
  const seconds = pages.flatMap(({ name, html, later }) => (later === null ? [] : [{ name, html, later }]));
  expect(seconds.map(({ name }) => name)).toEqual(['verify', 'evidence']);
  for (const { html, later } of seconds) {
    expect(html).toContain(`<script type="text/plain" id="later">${later}</script>`);
    expect(gzipSync(later, { level: 9 }).length).toBeLessThan(71_000);
  }
});

test('the verifier has a third script under 15 kB gzipped, which is text until files are given together', () => {
  const thirds = pages.filter(({ together }) => together !== null);
  expect(thirds.map(({ name }) => name)).toEqual(['verify']);
  for (const { html, together } of thirds) {
    expect(html).toContain(`<script type="text/plain" id="together">${together}</script>`);
    expect(gzipSync(together ?? '', { level: 9 }).length).toBeLessThan(15_000);
  }
});

describe.each(pages)('the page $name', ({ name, html, script, later, together }) => {
  test(`has a script under ${LIMIT / 1000} kB gzipped`, () => {
    expect(gzipSync(script ?? '', { level: 9 }).length).toBeLessThan(LIMIT);
  });

  test('has a policy that allows its own script and style, and no network but its own service', () => {
    const digests = (tag: string): string =>
      [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))]
        .map(([, text]) => `'sha256-${digestOf(text ?? '')}'`)
        .join(' ');
    // That of the page's head, and the page's own.
    expect(digests('script').split(' ')).toHaveLength(script === null ? 1 : 2);
    const others = [later, together]
      .map((text) => (text === null ? '' : ` 'sha256-${digestOf(text)}'`))
      .join('');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const isOneFile = ['verify', 'evidence'].includes(name);
    expect(policy).toBe(
      `default-src 'none'; script-src ${digests('script')}${others}; style-src ${digests('style')}; ` +
        (isOneFile
          ? "img-src data:; connect-src 'none'"
          : "font-src 'self'; img-src data:; connect-src 'self'") +
        "; base-uri 'none'; form-action 'none'",
    );
  });

  test('loads nothing from anywhere, and nothing in it is left to fill in', () => {
    expect(html).not.toMatch(/\b(?:src|srcset|action|formaction|ping)=/);
    const type = ['verify', 'evidence'].includes(name) ? '' : '|/assets/[\\w-]+\\.woff2\\b';
    expect(html).not.toMatch(
      new RegExp(`<(?:iframe|object|embed|base)\\b|@import|url\\((?!["']?(?:data:${type}))`),
    );
    expect(html).not.toMatch(/\{\{\w+\}\}/);
  });

  test('takes no text for markup', () => {
    expect(`${script}${later}${together}`).not.toMatch(
      /innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
    );
  });

  test('links to the other pages, and marks itself', () => {
    const links = [...html.matchAll(/<a href="(\/[\w/]*)"( aria-current="page")?/g)];
    const paths = navigation.flatMap(({ entries }) => entries.map(({ path }) => path));
    const header = links.slice(0, paths.length + 1).map(([, path]) => path);
    expect(header).toEqual(['/', ...paths]);
    const marked = links.filter(([, , current]) => current).map(([, path]) => path);
    expect(marked).toEqual(paths.filter((path) => path === `/${name}`));
  });
});
