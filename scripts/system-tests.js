// Runs the tests that need more than npm: the right to mount, loop devices, Go, and programs of Debian packages. Fails and names
// what is missing; no test is skipped. Arguments are passed on to vitest.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Programs that the tests run, or where they are, and the Debian package that has each. */
const PROGRAMS = [
  ['mkfs.ext4', 'e2fsprogs'],
  ['mount', 'mount'],
  ['umount', 'mount'],
  ['findmnt', 'util-linux'],
  ['flock', 'util-linux'],
  ['unshare', 'util-linux'],
  ['runuser', 'util-linux'],
  ['pg_basebackup', 'postgresql'],
  ['/usr/lib/postgresql/*/bin/initdb', 'postgresql'],
  ['pgbouncer', 'pgbouncer'],
  ['softhsm2-util', 'softhsm2'],
  ['pkcs11-tool', 'opensc'],
  ['make', 'build-essential'],
  ['caddy', 'caddy'],
  ['promtool', 'prometheus'],
  ['systemd-analyze', 'systemd'],
  ['systemd-nspawn', 'systemd-container'],
  ['openssl', 'openssl'],
  ['prometheus', 'prometheus'],
  ['strace', 'strace'],
  ['ssh-agent', 'openssh-client'],
];

const succeeds = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const packages = new Set(
  PROGRAMS.filter(([program]) => !succeeds('sh', ['-c', `command -v ${program}`])).map(([, name]) => name),
);
const missing = [];
if (packages.size > 0) missing.push(`Debian packages: apt-get install ${[...packages].join(' ')}`);
if (!succeeds('unshare', ['--mount', 'true']))
  missing.push('the right to mount (CAP_SYS_ADMIN): run it as root, or in a container with --privileged');
if (!succeeds('go', ['version'])) missing.push('Go 1.25 or later, which fetches Go 1.27.3');
if (!existsSync('/dev/loop-control')) missing.push('loop devices: modprobe loop');

if (process.argv.includes('--packages')) {
  process.stdout.write(`${[...new Set(PROGRAMS.map(([, name]) => name))].join(' ')}\n`);
  process.exit(0);
}
if (missing.length > 0) {
  process.stderr.write(
    `The system tests did not run. They need\n${missing.map((line) => `  - ${line}\n`).join('')}`,
  );
  process.exit(1);
}

// Runs in a mount namespace of its own, so that every mount ends with the run, however it ends.
const vitest = join(root, 'node_modules', '.bin', 'vitest');
const config = ['--config', 'vitest.system.config.ts'];
const { status } = spawnSync('unshare', ['--mount', vitest, 'run', ...config, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
