import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import sparticuz from '@sparticuz/chromium';
import { beginRun, endRun } from '../packages/server/test/server-folders.ts';

const SCRIPTS = [['../packages/web/scripts/build.ts', '--stale'], ['./bundle.ts']] as const;

/**
 * Runs before the tests: builds the pages and bundles the program if their inputs have changed, and unpacks the browser,
 * since a test would start it while another is still writing it.
 * @returns what runs after the tests
 */
export default async function prepare(): Promise<() => Promise<void>> {
  for (const [script, ...args] of SCRIPTS) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    execFileSync(process.execPath, [path, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  await sparticuz.executablePath();
  beginRun();
  return endRun;
}
