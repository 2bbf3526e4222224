import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPage, builtPage } from '../scripts/page.ts';

const { html, script } = await buildPage();

test('the committed page is what the sources make, to the byte', async () => {
  expect(readFileSync(builtPage, 'utf8') === html, 'Run npm run build:web.').toBe(true);
  expect((await buildPage()).html === html).toBe(true);
});

test('its script is under 40 kB gzipped', () => {
  expect(gzipSync(script, { level: 9 }).length).toBeLessThan(40_000);
});

test('its policy allows its own script and style and nothing else', () => {
  const digest = (tag: string): string => {
    const contents = [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
      ([, text]) => text ?? '',
    );
    expect(contents).toHaveLength(1);
    return createHash('sha256').update(contents.join()).digest('base64');
  };
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  expect(policy).toBe(
    `default-src 'none'; script-src 'sha256-${digest('script')}'; style-src 'sha256-${digest('style')}'; ` +
      "img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'",
  );
});

test('nothing in it is loaded from anywhere, and nothing is left to fill in', () => {
  expect(html).not.toMatch(/\b(?:src|srcset|action|formaction|ping)=/);
  expect(html).not.toMatch(/<(?:iframe|object|embed|base)\b|@import|url\((?!["']?data:)/);
  expect(html).not.toMatch(/\{\{\w+\}\}/);
});

test('no text is ever taken for markup', () => {
  expect(script).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
});
