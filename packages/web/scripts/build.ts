import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { buildPage, builtPage } from './page.ts';

/** Writes built/verify.html anew (`npm run build:web`). */
const { html, script } = await buildPage();
await writeFile(builtPage, html);
const gzipped = gzipSync(script, { level: 9 }).length;
process.stdout.write(`Wrote ${html.length} characters; the script is ${gzipped} bytes gzipped.\n`);
