import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPTS = [['../packages/web/scripts/build.ts', '--stale'], ['./bundle.ts']] as const;

/** Runs before the tests: builds the pages and bundles the program if their inputs have changed. */
export default function build(): void {
  for (const [script, ...args] of SCRIPTS) {
    const path = fileURLToPath(new URL(script, import.meta.url));
    execFileSync(process.execPath, [path, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
