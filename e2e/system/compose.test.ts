import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../process.ts';
import { ownGoProgram } from './go-modules.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

interface Service {
  readonly environment: Readonly<Record<string, string | null>>;
  readonly volumes?: readonly { readonly type: string; readonly source: string }[];
}

/** The loader of `docker compose config`: the command itself is no package of Debian's or of Go's. */
let compose = '';
beforeAll(() => {
  compose = ownGoProgram('compose-config');
}, 900_000);

/** What compose makes of the file, with these settings in `.env`. */
function config(settings: string) {
  const folder = temporaryFolder();
  cpSync(join(PROJECT, 'compose.yaml'), join(folder, 'compose.yaml'));
  writeFileSync(join(folder, '.env'), settings);
  return spawnSync(compose, ['compose.yaml'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
}

describe('compose.yaml', () => {
  const example = readFileSync(join(PROJECT, 'deploy/compose/env.example'), 'utf8');

  it('is valid with the example of its settings, filled in', () => {
    const { status, stdout, stderr } = config(example.replaceAll(/PASSWORD=$/gm, 'PASSWORD=secret'));
    expect(status, stderr).toBe(0);
    const { services } = JSON.parse(stdout) as { services: Record<string, Service> };
    const names = ['caddy', 'grafana', 'postgres', 'prometheus', 'tallystick-1', 'tallystick-2'];
    expect(Object.keys(services).toSorted()).toEqual(names);
    expect(services['tallystick-1']).toEqual(services['tallystick-2']);
    expect(services['tallystick-1']?.environment).toMatchObject({
      TALLY_HANDLE: 'acme',
      TALLY_DATABASE_URL: 'postgres://tallystick:secret@postgres:5432/tallystick',
    });
  });

  it('names what is not filled in', () => {
    const { status, stderr } = config(example);
    expect(status).not.toBe(0);
    expect(stderr).toContain('PASSWORD');
  });
});

it('Prometheus takes the file that its container reads', () => {
  const args = ['check', 'config', '--syntax-only', join(PROJECT, 'deploy/compose/prometheus.yml')];
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
});
