import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installInto, must, packPackages } from '../../../e2e/packages/install.ts';
import { type Ran, run, type Service, serve, workspace } from './tally.ts';

const MB = 1_000_000;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const { at, home, remove } = workspace();
const installed = at('app/node_modules');
let service: Service;

/** `tally` of the installation, which lies outside the workspace: no package of ours is found from there by chance. */
const tally = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  run(args, {
    command: [process.execPath, join(installed, '.bin/tally')],
    env: { ...service.env, TALLY_HOME: home, ...env },
  });

function bytesIn(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

/** Folders in `node_modules` of all that packages depend on, without ours. */
function dependenciesOf(folders: readonly string[], found = new Set<string>()): Set<string> {
  for (const folder of folders) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const next = Object.keys(dependencies)
      .filter((name) => !name.startsWith('@tallystick/'))
      .map((name) => `./node_modules/${name}`)
      .filter((one) => !found.has(one));
    for (const one of next) found.add(one);
    dependenciesOf(next, found);
  }
  return found;
}

/** Packs what is published of the command line and of what it depends on, and installs that without a network. */
beforeAll(async () => {
  const ours = packPackages(at('ours'));
  for (const name of ['core', 'attest', 'sdk', 'cli']) cpSync(ours.get(name) ?? '', at(`packed/${name}.tgz`));
  const theirs = [...dependenciesOf(['packages/core', 'packages/attest', 'packages/sdk', 'packages/cli'])];
  const options = ['--pack-destination', at('packed'), '--ignore-scripts', '--loglevel=error'];
  must('npm', ['pack', ...theirs, ...options], root);
  const tarballs = readdirSync(at('packed')).map((file) => at(`packed/${file}`));
  installInto(at('app'), tarballs, '--offline', '--ignore-scripts');
  service = await serve(at('data'));
});
afterAll(async () => {
  await service.stop();
  remove();
});

describe('an installation of the command line', () => {
  test('has no server, and is under 15 MB with the packed files', () => {
    const names = readdirSync(join(installed, '@tallystick'));
    expect(names.sort()).toEqual(['attest', 'cli', 'core', 'sdk']);
    expect(existsSync(join(installed, 'viem'))).toBe(false);
    expect((bytesIn(installed) + bytesIn(at('packed'))) / MB).toBeLessThan(15);
  });

  test('mints, verifies, meters, inspects and keeps trust and keys', async () => {
    const receipt = at('receipt.json');
    expect(await tally(['mint', '--text', 'hello', '--out', receipt])).toMatchObject({ code: 0 });
    expect(await tally(['trust', 'fetch', '--out', at('bundle.json')])).toMatchObject({ code: 0 });
    expect(await tally(['verify', receipt])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ Valid/),
    });
    const foreign = join(root, 'spec/acta/aps-gateway-enforcement');
    const key = ['--key', join(foreign, 'jwks.json')];
    expect(await tally(['verify', join(foreign, '4-portability/receipt.json'), ...key])).toMatchObject({
      code: 0,
    });
    const forged = readFileSync(receipt, 'utf8').replace('"purpose":"receipt"', '"purpose":"refund!"');
    writeFileSync(at('forged.json'), forged);
    expect(await tally(['verify', at('forged.json')])).toMatchObject({ code: 1 });
    expect(await tally(['inspect', receipt])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^family +envelope/),
    });
    expect(await tally(['emit', '--text', 'hello', '--profile', 'nano'])).toMatchObject({ code: 0 });
    expect(await tally(['trust', 'show'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^service/),
    });
    expect(await tally(['keys', 'generate', '--out', at('me.json')])).toMatchObject({ code: 0 });
    expect(await tally(['keys', 'register', '--handle', 'acme', '--key', at('me.json')])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^did:svc:acme/),
    });
    expect(await tally(['status', '--json'])).toMatchObject({ stdout: expect.stringMatching(/"endpoints"/) });
    expect(await tally(['anchor', 'status'])).toMatchObject({ code: 0 });
    expect(await tally(['log', 'checkpoint'])).toMatchObject({ code: 0 });

    writeFileSync(at('units.csv'), 'unit,receipt\n1,receipt.json\n2,\n');
    const bill = ['--machine', 'm', '--customer', 'c', '--rate-reference', 'r', '--unit', 'pick'];
    const window = ['--from', '2025-01-01T00:00:00Z', '--to', '2025-02-01T00:00:00Z'];
    const price = ['--billed', '2', '--unit-rate-minor', '5', '--currency', 'EUR'];
    const evidence = ['--evidence', at('units.csv')];
    const minted = ['meter', 'mint', ...bill, ...window, ...price, ...evidence, '--out', at('bill.json')];
    expect(await tally(minted)).toMatchObject({ code: 0 });
    expect(await tally(['meter', 'verify', at('bill.json'), ...evidence])).toMatchObject({ code: 0 });
  });

  test.each([
    ['tally serve', ['serve']],
    ['tally serve', ['serve', '--help']],
    ['tally ledger', ['ledger', 'balance', 'owner', '--some', 'option']],
    ['tally compress', ['compress', 'x']],
    ['tally keys rotate', ['keys', 'rotate', '--purpose', 'receipt']],
    ['tally trust approve', ['trust', 'approve', 'did:svc:acme']],
    ['tally log fsck', ['log', 'fsck']],
    ['tally log checkpoint --local', ['log', 'checkpoint', '--local']],
  ])('%s says what to install, and ends with 2', async (command, args) => {
    const message = `\`${command}\` comes with @tallystick/server. Install it with: npm install @tallystick/server (with -g, if tally is)`;
    expect(await tally(args)).toEqual({ code: 2, stdout: '', stderr: `tally: ${message} (usage)\n` });
    const { code, stdout } = await tally([...args, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([2, { error: { code: 'usage', message } }]);
  });

  test('its help lists the operator’s commands too, and says what they come with', async () => {
    const { code, stdout } = await tally(['--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('\nRun a service (with @tallystick/server, which is not installed):\n  serve ');
    expect(stdout).toContain('\nReceipts:\n  mint ');
    expect((await tally(['keys', '--help'])).stdout).toContain('not installed):\n  init ');
  });
});
