import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import sparticuz from '@sparticuz/chromium';

const SCRIPTS = [['../packages/web/scripts/build.ts', '--stale'], ['./bundle.ts']] as const;

/**
 * Runs before the tests: builds the pages and bundles the program if their inputs have changed, and unpacks the browser,
 * since a test would start it while another is still writing it.
 */
export default async function prepare(): Promise<void> {
  for (const [script, ...args] of SCRIPTS) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    execFileSync(process.execPath, [path, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  await sparticuz.executablePath();
}
