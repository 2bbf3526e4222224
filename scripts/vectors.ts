import { writeFile } from 'node:fs/promises';
import { buildVectors } from './vectors/build.ts';

/** Writes spec/vectors anew (`npm run vectors`). */
const folder = new URL('../spec/vectors/', import.meta.url);
const files = await buildVectors();
for (const [name, text] of files) await writeFile(new URL(name, folder), text);
console.log(`Wrote ${files.size} files to spec/vectors.`);
