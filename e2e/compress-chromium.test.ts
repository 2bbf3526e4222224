import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { launch } from '../packages/web/test/browser.ts';

const at = (path: string): URL => new URL(`../packages/compress/test/${path}`, import.meta.url);

test('compression gives the same bytes in Chromium', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(at('fixed.ts'))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'fixed',
    platform: 'browser',
    charset: 'utf8',
    logLevel: 'silent',
  });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
    const found = await page.evaluate('fixed.digests()');
    expect(found).toStrictEqual(JSON.parse(readFileSync(at('digests.json'), 'utf8')));
  } finally {
    await browser.close();
  }
});
