import { it } from 'vitest';
import { buildGoProgram, expectJudgesForks } from '../fork-file.ts';
import { temporaryFolder } from '../process.ts';

it('the Go program of docs/fork-file.md judges fork files', async () => {
  const folder = temporaryFolder();
  await expectJudgesForks([buildGoProgram(folder)], folder);
});
