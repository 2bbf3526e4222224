import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { buildGoProgram, expectJudgesForks, programIn } from './fork-file.ts';
import { temporaryFolder } from './process.ts';
import { missingInPython, python } from './python.ts';

const missing = missingInPython('cryptography');
const hasGo = spawnSync('go', ['version']).error === undefined;

describe('the programs of docs/fork-file.md', () => {
  it.skipIf(missing !== null)(`judges fork files in Python (${missing ?? python})`, async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'fork.py');
    writeFileSync(file, programIn('python'));
    await expectJudgesForks([python, file], folder);
  });

  it.skipIf(!hasGo)('judges fork files in Go', async () => {
    const folder = temporaryFolder();
    await expectJudgesForks([buildGoProgram(folder)], folder);
  });
});
