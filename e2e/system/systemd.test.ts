import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../process.ts';
import { runBooted } from './booted.ts';
import { buildRootfs } from './container.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const UNITS = join(PROJECT, 'deploy/systemd');

/** What `systemd-analyze security` may find, in tenths: 0 is best, 100 worst. What is left is the network, and V8's machine code. */
const MAX_EXPOSURE = 15;

let rootfs = '';
beforeAll(() => {
  rootfs = buildRootfs();
}, 600_000);

it('the units name nothing that systemd does not know', () => {
  const folder = temporaryFolder();
  for (const unit of ['tallystick.service', 'tallystick.socket'])
    cpSync(join(UNITS, unit), join(folder, unit));
  // The program that the unit starts has to be where it says.
  const verify = `mount --bind "$0/opt" /opt && exec systemd-analyze verify "$1"/*`;
  const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', verify, rootfs, folder], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('the service is confined', () => {
  const args = [
    'security',
    '--offline=true',
    `--threshold=${MAX_EXPOSURE}`,
    join(UNITS, 'tallystick.service'),
  ];
  const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  expect(status, stdout).toBe(0);
});

const SETTINGS = `TALLY_HANDLE=acme
TALLY_RECEIPTS_URL=https://receipts.example.com
TALLY_API_URL=https://api.example.com
TALLY_SITE_URL=https://example.com
TALLY_CHAIN_ID=8453
TALLY_CHAIN_NETWORK=base
TALLY_CHAIN_RPC_URL=http://127.0.0.1:9
TALLY_LAME_DUCK_SECONDS=0
`;

function shellBlocks(page: string): string[] {
  const text = readFileSync(join(PROJECT, 'docs/operating', page), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
}

/** The commands that the page prints, but for the one that needs a registry of packages. */
function printedCommands(): string {
  return shellBlocks('systemd.md')
    .join('')
    .replace(/^npm install .*$/m, `cat > /etc/tallystick/tallystick.env <<'end'\n${SETTINGS}end`);
}

const NEW_PASSPHRASE = shellBlocks('keys.md').find((block) => block.includes('keys passphrase')) ?? '';

const CHECKS = `
request() { /usr/bin/node --input-type=module -e "$1"; }
shown() { systemctl show --property="$1" --value tallystick.service; }

tally trust draft > draft.json
TALLY_KEYRING_PASSPHRASE_FILE=/etc/tallystick/keyring-passphrase \\
  /opt/tallystick/node_modules/.bin/tally trust sign draft.json --root-keyring root-keyring.json > trust.json
chmod 644 trust.json
tally trust publish /check/trust.json
until_ready() {
  until request "const { status } = await fetch('http://127.0.0.1:8787/readyz'); process.exit(status === 200 ? 0 : 1)"; do :; done
}
until_ready

request "
const body = JSON.stringify({ input: 'x', purpose: 'p' });
const headers = { 'content-type': 'application/json' };
const receipt = await fetch('http://127.0.0.1:8787/v1/receipt/free', { method: 'POST', headers, body });
console.log('minted', receipt.status);
"
pid=$(shown MainPID)
grep -E '^(NoNewPrivs|Seccomp|CapEff|CapBnd):' /proc/$pid/status
test "$(stat --format=%U /proc/$pid)" = tallystick
test "$(shown NRestarts)" = 0

systemctl reload tallystick.service
test "$(shown MainPID)" = "$pid"
echo reloaded

runuser --user=nobody -- env TALLY_DATA_DIR=/var/lib/tallystick /opt/tallystick/node_modules/.bin/tally keys list && exit 1

cp /etc/tallystick/keyring-passphrase old-passphrase
${NEW_PASSPHRASE}
until_ready
pid=$(shown MainPID)
cmp --quiet old-passphrase /etc/tallystick/keyring-passphrase && exit 1
test "$(stat --format='%U %G %a' /etc/tallystick/keyring-passphrase)" = 'root tallystick 640'
echo 'encrypted anew'

# Nobody is refused while the service restarts: the connection waits in the socket.
systemctl restart --no-block tallystick.service
request "
for (;;) {
  const { status } = await fetch('http://127.0.0.1:8787/healthz', { headers: { connection: 'close' } });
  if (status !== 200) throw new Error('healthz: ' + status);
  const { status: ready } = await fetch('http://127.0.0.1:8787/readyz', { headers: { connection: 'close' } });
  const { readdirSync } = await import('node:fs');
  if (ready === 200 && !readdirSync('/proc').includes('$pid')) break;
}
console.log('restarted');
"
systemctl stop tallystick.service tallystick.socket
echo "ended: $(shown Result) $(shown ExecMainStatus)"
`;

it('the service runs under systemd as its page says: confined, on its socket, with secrets that systemd passes', () => {
  const { status, output } = runBooted(
    {
      '/opt/tallystick': join(rootfs, 'opt/tallystick'),
      '/usr/bin/node': join(rootfs, 'usr/bin/node'),
      '/check-project/deploy': join(PROJECT, 'deploy'),
    },
    `cd /check-project\n${printedCommands()}\nmv root-keyring.json /check\ncd /check\n${CHECKS}`,
  );
  expect(status, output).toBe('0');
  expect(output).toContain('minted 200');
  expect(output).toMatch(/CapBnd:\t0{16}\n.*CapEff:\t0{16}|CapEff:\t0{16}\n.*CapBnd:\t0{16}/);
  expect(output).toMatch(/NoNewPrivs:\t1\nSeccomp:\t2/);
  expect(output).toContain('reloaded');
  expect(output).toContain('encrypted anew');
  expect(output).toContain('This user may not read /var/lib/tallystick/keyring.json.');
  expect(output).toContain('restarted');
  expect(output).toContain('ended: success 0');
});
