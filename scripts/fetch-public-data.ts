// Fetches the data of others that benchmarks read and this repository does not hold: `npm run bench:data`.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  digestOf,
  MissingData,
  type PublicDataName,
  pathsIn,
  publicData,
  publicDataFolder,
  publicDataFolders,
} from './public-data.ts';

for (const name of Object.keys(publicData) as PublicDataName[]) {
  if (isMissing(name)) fetch(name);
  const folder = publicDataFolder(name);
  const isMeasured = digestOf(name, folder) === publicData[name].sha256;
  const note = isMeasured
    ? ''
    : ', but other files than bench/README.md was measured with: expect other numbers';
  process.stdout.write(`${name}: in ${folder}${note}\n`);
}

function fetch(name: PublicDataName): void {
  const { repository, licence, files } = publicData[name];
  const [folder] = publicDataFolders(name);
  const clone = mkdtempSync(join(tmpdir(), 'tally-data-'));
  process.stdout.write(`${name}: from ${repository} (${licence}) …\n`);
  try {
    execFileSync('git', ['clone', '--quiet', '--depth', '1', repository, clone], { stdio: 'inherit' });
    for (const some of files) {
      mkdirSync(join(folder, some.to), { recursive: true });
      for (const path of pathsIn(clone, some.from, some))
        copyFileSync(path, join(folder, some.to, basename(path)));
    }
  } finally {
    rmSync(clone, { recursive: true });
  }
}

function isMissing(name: PublicDataName): boolean {
  try {
    publicDataFolder(name);
    return false;
  } catch (error) {
    if (error instanceof MissingData) return true;
    throw error;
  }
}
