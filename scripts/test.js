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
if (given.length === 0) {
  // The environment of Python is made first: tests of both languages use it.
  await run(['npm', 'run', '--silent', 'check'], ['node', 'scripts/python-venv.js']);
  // Python's tests take one core, and TypeScript's leave them room. What they say is kept until they end, so that it stands in one piece.
  await run(['vitest', 'run'], ['node', 'scripts/python-tests.js']);
} else await run(['vitest', 'run', ...part]);

/** Runs commands side by side to their ends, the first in sight. Ends the process with the status of one that fails. */
async function run(...commands) {
  const ended = commands.map(async ([command, ...args], index) => {
    const stdio = index === 0 ? 'inherit' : ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd: root, stdio, shell: process.platform === 'win32' });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => said.push(piece));
    const [status] = await once(child, 'close');
    process.stdout.write(Buffer.concat(said));
    return status ?? 1;
  });
  for (const status of await Promise.all(ended)) if (status !== 0) process.exit(status);
}
