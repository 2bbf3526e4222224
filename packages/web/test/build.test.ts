import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { buildPage, builtPage, builtPart, pageNames, sharedParts } from '../scripts/page.ts';

const built = await Promise.all(pageNames.map(async (name) => ({ name, ...(await buildPage(name)) })));

/** Bytes: pages that verify nothing carry no cryptography. */
const limitOf = (name: string): number => (['usage', 'leaderboard'].includes(name) ? 10_000 : 40_000);

test.each(Object.entries(sharedParts))('%s as committed is what the sources make', async (name, build) => {
  expect(readFileSync(builtPart(name), 'utf8') === (await build()), 'Run npm run build:web.').toBe(true);
});

describe.each(built)('the page $name', ({ name, html, script }) => {
  test('as committed is what the sources make, to the byte', async () => {
    expect(readFileSync(builtPage(name), 'utf8') === html, 'Run npm run build:web.').toBe(true);
    expect((await buildPage(name)).html === html).toBe(true);
  });

  test(`has a script under ${limitOf(name) / 1000} kB gzipped`, () => {
    expect(gzipSync(script, { level: 9 }).length).toBeLessThan(limitOf(name));
  });

  test('has a policy that allows its own script and style, and no network but its own service', () => {
    const digest = (tag: string): string => {
      const contents = [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
        ([, text]) => text ?? '',
      );
      expect(contents).toHaveLength(1);
      return createHash('sha256').update(contents.join()).digest('base64');
    };
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const connect = ['verify', 'evidence'].includes(name) ? "'none'" : "'self'";
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${digest('script')}'; style-src 'sha256-${digest('style')}'; ` +
        `img-src data:; connect-src ${connect}; base-uri 'none'; form-action 'none'`,
    );
  });

  test('loads nothing from anywhere, and nothing in it is left to fill in', () => {
    expect(html).not.toMatch(/\b(?:src|srcset|action|formaction|ping)=/);
    expect(html).not.toMatch(/<(?:iframe|object|embed|base)\b|@import|url\((?!["']?data:)/);
    expect(html).not.toMatch(/\{\{\w+\}\}/);
  });

  test('takes no text for markup', () => {
    expect(script).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
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
