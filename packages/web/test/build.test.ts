import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { outputs } from '../scripts/page.ts';

const built = await Promise.all(
  Object.entries(outputs).map(async ([file, build]) => ({ file, ...(await build()) })),
);
const pages = built.flatMap(({ file, text, script, later = null }) =>
  script === undefined ? [] : [{ name: file.replace('.html', ''), html: text, script, later }],
);
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Bytes: pages that verify nothing carry no cryptography. */
const limitOf = (name: string): number => (['usage', 'leaderboard'].includes(name) ? 10_000 : 40_000);

const folder = mkdtempSync(join(tmpdir(), 'tally-pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('builds the same bytes in another process, folder and time zone', () => {
  const script = fileURLToPath(new URL('../scripts/build.ts', import.meta.url));
  const env = { ...process.env, TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8' };
  execFileSync(process.execPath, [script, '--to', folder], { cwd: tmpdir(), env, stdio: 'ignore' });
  expect(readdirSync(folder).toSorted()).toEqual(['.inputs', ...Object.keys(outputs)].toSorted());
  const changed = built.filter(({ file, text }) => readFileSync(join(folder, file), 'utf8') !== text);
  expect(changed.map(({ file }) => file)).toEqual([]);
});

test.each(built)('$file is served as the sources make it', ({ file, text }) => {
  const served = readFileSync(new URL(`../built/${file}`, import.meta.url), 'utf8');
  expect(served === text, 'Run npm run build:web.').toBe(true);
});

test('the verify page has a second script under 60 kB gzipped, which is text until it is needed', () => {
  const seconds = pages.flatMap(({ name, html, later }) => (later === null ? [] : [{ name, html, later }]));
  expect(seconds.map(({ name }) => name)).toEqual(['verify']);
  for (const { html, later } of seconds) {
    expect(html).toContain(`<script type="text/plain" id="later">${later}</script>`);
    expect(gzipSync(later, { level: 9 }).length).toBeLessThan(60_000);
  }
});

describe.each(pages)('the page $name', ({ name, html, script, later }) => {
  test(`has a script under ${limitOf(name) / 1000} kB gzipped`, () => {
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(limitOf(name));
  });

  test('has a policy that allows its own script and style, and no network but its own service', () => {
    const digest = (tag: string): string => {
      const contents = [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
        ([, text]) => text ?? '',
      );
      expect(contents).toHaveLength(1);
      return digestOf(contents.join());
    };
    const second = later === null ? '' : ` 'sha256-${digestOf(later)}'`;
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const connect = ['verify', 'evidence'].includes(name) ? "'none'" : "'self'";
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${digest('script')}'${second}; style-src 'sha256-${digest('style')}'; ` +
        `img-src data:; connect-src ${connect}; base-uri 'none'; form-action 'none'`,
    );
  });

  test('loads nothing from anywhere, and nothing in it is left to fill in', () => {
    expect(html).not.toMatch(/\b(?:src|srcset|action|formaction|ping)=/);
    expect(html).not.toMatch(/<(?:iframe|object|embed|base)\b|@import|url\((?!["']?data:)/);
    expect(html).not.toMatch(/\{\{\w+\}\}/);
  });

  test('takes no text for markup', () => {
    expect(script + (later ?? '')).not.toMatch(
      /innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
    );
  });

  test('links to the other pages, and marks itself', () => {
    const links = [...html.matchAll(/<a href="(\/\w*)"( aria-current="page")?/g)];
    const pages = [
      'verify',
      'receipts',
      'evidence',
      'log',
      'usage',
      'leaderboard',
      'benchmark',
      'status',
      'docs',
    ];
    const header = links.slice(0, pages.length + 1).map(([, path]) => path);
    expect(header).toEqual(['/', ...pages.map((page) => `/${page}`)]);
    const marked = links.filter(([, , current]) => current).map(([, path]) => path);
    expect(marked).toEqual([name === 'landing' ? '/' : `/${name}`]);
  });
});
