#!/usr/bin/env node
// Plain JavaScript, so that an older Node can still read it: Tallystick itself needs Node 24, which the
// project brings along from npm.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache();
  const { main } = await import('../src/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const node = bundledNode(dirname(fileURLToPath(import.meta.url)));
  if (node === null) {
    process.stderr.write(`tally needs Node ${NEEDED} or later; this is ${process.version}. Install it, or run npm ci in the project.\n`);
    process.exit(2);
  }
  const done = spawnSync(node, process.argv.slice(1), { stdio: 'inherit' });
  process.exit(done.status ?? 1);
}

/** The nearest node_modules/.bin/node above a folder, or null. */
function bundledNode(folder) {
  const candidate = join(folder, 'node_modules', '.bin', 'node');
  if (existsSync(candidate)) return candidate;
  const parent = dirname(folder);
  return parent === folder ? null : bundledNode(parent);
}
