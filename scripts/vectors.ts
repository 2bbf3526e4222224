import { writeFile } from 'node:fs/promises';
import { buildVectors } from './vectors/build.ts';
import { profilesText } from './vectors/profiles.ts';

/** Folder of the vectors, which this script writes anew together with spec/profiles.json (`npm run vectors`). */
const folder = new URL('../spec/vectors/', import.meta.url);
const files = await buildVectors();
for (const [name, text] of files) await writeFile(new URL(name, folder), text);
console.log(`Wrote ${files.size} files to spec/vectors.`);
await writeFile(new URL('../spec/profiles.json', import.meta.url), profilesText());
