import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for what several files of the suite use, and removes it after the last one. */
export default function makeSharedFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tally-system-'));
  process.env.TALLY_SYSTEM_TESTS = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
