import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a folder for what several files of the suite use, and removes it after the last one. An image takes many seconds to remove: if Vitest
 * stood still meanwhile, it would take the workers, whose end it would not see, for ones that do not end.
 */
export default function makeSharedFolder(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-system-'));
  process.env.TALLY_SYSTEM_TESTS = folder;
  return () => rm(folder, { recursive: true, force: true });
}
