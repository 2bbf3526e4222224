#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=16 --heap-growing-percent=100
// Plain JavaScript, so that an older Node can still read it: Tallystick itself needs Node 24, which the
// project brings along from npm.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;

// Set here and in the first line. By default V8 lets short-lived objects take three times 32 MB before it looks
// which of them are alive, and lets longer-lived ones grow to four times what is in use; and glibc keeps a heap for each
// of V8's threads. Together these are most of the memory that a server gains under load. Less growth than to twice
// what is in use costs a look at everything each second, for which all requests wait.
const FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=100'];
const ENVIRONMENT = { MALLOC_ARENA_MAX: '1', ...process.env };

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  const { bundledMain } = await import('../src/bundle.ts');
  const { main } = await import(bundledMain() ?? '../src/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const node = bundledNode(dirname(fileURLToPath(import.meta.url)));
  if (node === null) {
    process.stderr.write(
      `tally: Node ${NEEDED} or later is needed; this is ${process.version}. Install it, or run npm ci in the project.\n`,
    );
    process.exit(2);
  }
  runWith(node);
}

/** The nearest node_modules/.bin/node above a folder, or null. */
function bundledNode(folder) {
  const candidate = join(folder, 'node_modules', '.bin', 'node');
  if (existsSync(candidate)) return candidate;
  const parent = dirname(folder);
  return parent === folder ? null : bundledNode(parent);
}

/** Runs the same command with another Node. Signals are passed on to it, and this process ends in the same way as it. */
function runWith(node) {
  const child = spawn(node, [...FLAGS, ...process.argv.slice(1)], { stdio: 'inherit', env: ENVIRONMENT });
  const passOn = (signal) => child.kill(signal);
  process.on('SIGTERM', passOn).on('SIGHUP', passOn);
  // A terminal sends Ctrl-C to both processes; a second one would cut the server's shutdown short.
  process.on('SIGINT', (signal) => process.stdin.isTTY || passOn(signal));
  child.on('error', (error) => {
    process.stderr.write(`tally: ${node} cannot be run: ${error.message}.\n`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
