import { readFileSync, writeFileSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

// Draws the pictures that are not SVG, from those that are: `node packages/web/scripts/draw-pictures.ts`. They are
// committed, since a browser does not draw the same bytes on every machine.

const folder = new URL('../src/pictures/', import.meta.url);
const inter = new URL(
  '../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  import.meta.url,
);

const browser = await chromium.launch({
  executablePath: await sparticuz.executablePath(),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  writeFileSync(new URL('social.png', folder), await draw(browser, 'social.svg', 1200, 630));
  const sizes = [16, 32, 48];
  const drawn = await Promise.all(sizes.map((size) => draw(browser, 'favicon.svg', size, size)));
  writeFileSync(new URL('favicon.ico', folder), iconOf(sizes, drawn));
} finally {
  await browser.close();
}

async function draw(browser: Browser, file: string, width: number, height: number): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width, height } });
  const face = `@font-face{font-family:Inter;font-weight:100 900;src:url(data:font/woff2;base64,${readFileSync(inter, 'base64')})}`;
  const svg = readFileSync(new URL(file, folder), 'utf8');
  await page.setContent(
    `<style>${face}html,body{margin:0;background:none}svg{display:block;width:${width}px;height:${height}px}</style>${svg}`,
  );
  await page.evaluate(() => document.fonts.ready);
  const drawn = await page.screenshot({ omitBackground: true });
  await page.close();
  return drawn;
}

/** An ICO file of PNG pictures: a header of 6 bytes, an entry of 16 bytes for each picture, the pictures. */
function iconOf(sizes: readonly number[], pictures: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(6 + 16 * pictures.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(pictures.length, 4);
  let at = header.length;
  for (const [index, picture] of pictures.entries()) {
    const entry = 6 + 16 * index;
    const size = sizes[index] ?? 0;
    header.writeUInt8(size, entry);
    header.writeUInt8(size, entry + 1);
    header.writeUInt16LE(1, entry + 4);
    header.writeUInt16LE(32, entry + 6);
    header.writeUInt32LE(picture.length, entry + 8);
    header.writeUInt32LE(at, entry + 12);
    at += picture.length;
  }
  return Buffer.concat([header, ...pictures]);
}
