// Runs every check and every test; with arguments only the tests that they name, and nothing else: `npm test -- receipts`.
// `--quick` names the tests that stand beside the sources, without the slowest.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Processes that are killed, a development chain, encrypted keyrings, long texts, compilers. */
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
if (given.length === 0) {
  run('npm', ['run', '--silent', 'check']);
  run('node', ['scripts/python-tests.js']);
}
run('vitest', ['run', ...part]);

/** Ends the process with the status of a command that fails. */
function run(command, args) {
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status } = spawnSync(command, args, options);
  if (status !== 0) process.exit(status ?? 1);
}
