import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs before the tests: builds the pages if their inputs have changed. */
export default function buildPages(): void {
  const build = fileURLToPath(new URL('../packages/web/scripts/build.ts', import.meta.url));
  execFileSync(process.execPath, [build, '--stale'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
