import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { buildPage, builtPage, builtPart, pageNames, sharedParts } from './page.ts';

/** Writes built/ anew (`npm run build:web`). */
for (const [name, build] of Object.entries(sharedParts)) await writeFile(builtPart(name), await build());
for (const name of pageNames) {
  const { html, script } = await buildPage(name);
  await writeFile(builtPage(name), html);
  const gzipped = gzipSync(script, { level: 9 }).length;
  process.stdout.write(`${name}: ${html.length} characters; its script is ${gzipped} bytes gzipped.\n`);
}
