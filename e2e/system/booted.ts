import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEachFile } from '../../scripts/end-of-file.ts';
import { temporaryFolder } from '../process.ts';

const mount = (...args: string[]): void => void execFileSync('mount', args, { stdio: 'inherit' });

const mounted: string[] = [];
afterEachFile(() => {
  for (const path of mounted.splice(0).toReversed()) execFileSync('umount', ['--lazy', path]);
});

const SERVICE = `[Service]
Type=oneshot
# Of what hangs: then the journal says why.
TimeoutStartSec=240
WorkingDirectory=/check
ExecStart=/bin/sh -eux /check/script.sh
ExecStopPost=/bin/sh -c 'echo $EXIT_STATUS > /check/status; journalctl --no-pager --output=cat > /check/journal; systemctl exit'
StandardOutput=file:/check/output
StandardError=inherit
`;

/** Other files to be seen in the machine: its path there, and the path here. */
type Files = Readonly<Record<string, string>>;

/**
 * Boots systemd in a container whose file system begins as that of this machine, without a network, and runs a script in it as
 * root. Whatever the script changes is gone afterwards.
 * @returns its exit status and what it wrote; the whole journal when it failed
 */
export function runBooted(files: Files, script: string): { status: string; output: string } {
  const folder = temporaryFolder();
  const [memory, root, check] = ['memory', 'root', 'check'].map((name) => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string];
  mount('--types', 'tmpfs', 'tmpfs', memory);
  mounted.push(memory);
  for (const layer of ['upper', 'work']) mkdirSync(join(memory, layer));
  const layers = `lowerdir=/,upperdir=${memory}/upper,workdir=${memory}/work`;
  mount('--types', 'overlay', 'overlay', '--options', layers, root);
  mounted.push(root);

  writeFileSync(join(root, 'etc/systemd/system/check.service'), SERVICE);
  for (const [to, from] of Object.entries(files))
    cpSync(from, join(root, to), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(check, 'script.sh'), script);
  const options = [
    '--quiet',
    '--link-journal=no',
    '--register=no',
    '--keep-unit',
    '--private-network',
    '--console=passive',
  ];
  spawnSync(
    'systemd-nspawn',
    [...options, `--directory=${root}`, `--bind=${check}:/check`, '--boot', '--', '--unit=check.service'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const text = (name: string): string => readFileSync(join(check, name), 'utf8').trim();
  const status = text('status');
  return { status, output: status === '0' ? text('output') : `${text('output')}\n${text('journal')}` };
}
