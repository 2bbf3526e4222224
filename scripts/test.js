// Runs every check and every test; with arguments only the tests that they name: `npm test -- receipts`.
// `--quick` runs the tests that stand beside the sources, without the slowest.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Slow tests: they kill processes, or run a development chain, encrypted keyrings, long texts or compilers. */
const SLOW = [
  'packages/chain/src/devnet.test.ts',
  'packages/inference/src/local/extract.test.ts',
  'packages/issuers/src/keyring-file.test.ts',
  'packages/issuers/src/trust.test.ts',
  'packages/log/src/anchorer-crash.test.ts',
  'scripts/docs.test.ts',
];
const QUICK = ['/src/', 'scripts/', ...SLOW.flatMap((file) => ['--exclude', file])];

const given = process.argv.slice(2);
const part = given.flatMap((argument) => (argument === '--quick' ? QUICK : [argument]));
// The checks and Python's tests take one core each.
if (given.length === 0) await run(['npm', 'run', '--silent', 'check'], ['node', 'scripts/python-tests.js']);
await run(['vitest', 'run', ...part]);

/** Runs commands side by side to their ends. Ends the process with the status of one that fails. */
async function run(...commands) {
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  const ended = commands.map(([command, ...args]) => once(spawn(command, args, options), 'exit'));
  for (const [status] of await Promise.all(ended)) if (status !== 0) process.exit(status ?? 1);
}
