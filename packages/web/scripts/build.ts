import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { buildPage, builtPage, pageNames } from './page.ts';

/** Writes built/*.html anew (`npm run build:web`). */
for (const name of pageNames) {
  const { html, script } = await buildPage(name);
  await writeFile(builtPage(name), html);
  const gzipped = gzipSync(script, { level: 9 }).length;
  process.stdout.write(`${name}: ${html.length} characters; its script is ${gzipped} bytes gzipped.\n`);
}
