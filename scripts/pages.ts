import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Before the tests: builds the pages where what they are made of has changed. */
export default function buildPages(): void {
  const build = fileURLToPath(new URL('../packages/web/scripts/build.ts', import.meta.url));
  execFileSync(process.execPath, [build, '--stale'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
