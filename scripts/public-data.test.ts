import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { publishedForms } from '../bench/compress-peers.ts';
import { unlessMissing } from '../bench/unless-missing.ts';
import { MissingData, type PublicDataName, publicData, publicDataFolder } from './public-data.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = Object.keys(publicData) as PublicDataName[];
const folder = mkdtempSync(join(tmpdir(), 'tally-public-data-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});
const data = join(folder, 'data');
beforeEach(() => {
  rmSync(data, { recursive: true, force: true });
  vi.stubEnv('TALLY_BENCH_DATA', data);
});

describe('data of others that are not in the repository', () => {
  it.each(names)('%s: are missing with their publisher, their licence and the command', (name) => {
    const { repository, licence } = publicData[name];
    expect(() => publicDataFolder(name)).toThrow(MissingData);
    for (const said of [repository, licence, 'npm run bench:data', data])
      expect(() => publicDataFolder(name)).toThrow(said);
  });

  it('that are there in part count as missing', () => {
    mkdirSync(join(data, 'routing/mmlu'), { recursive: true });
    writeFileSync(join(data, 'routing/gsm8k_responses.csv'), '');
    writeFileSync(join(data, 'routing/mmlu/mmlu_anatomy.csv'), '');
    expect(() => publicDataFolder('routing')).toThrow(MissingData);
  });

  it('stop a benchmark that is about nothing else, with the message and status 1', () => {
    const { status, stdout, stderr } = bench('routing');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('npm run bench:data');
  });

  it('leave the other rows of a benchmark, which says what is missing and ends with status 1', () => {
    const { status, stdout, stderr } = bench('embedding');
    expect(status).toBe(1);
    expect(stdout).toContain('conversations, MRR');
    expect(stdout).not.toContain('subjects, nearest');
    expect(stderr).toContain('https://github.com/lm-sys/RouteLLM');
    expect(unlessMissing(publishedForms)).toMatchObject({
      found: [],
      missing: [expect.stringContaining('toon')],
    });
  });

  it('are fetched by a command, which says where they differ from those that were measured', () => {
    const { status, stdout } = run(['scripts/fetch-public-data.ts'], clonesInPlaceOfPublishers());
    expect(status).toBe(0);
    for (const name of names)
      expect(stdout).toContain(`${name}: in ${join(data, name)}, but other files than bench/README.md`);
    expect(existsSync(join(data, 'routing/mmlu/mmlu_3.csv'))).toBe(true);
    expect(publicDataFolder('compression')).toBe(join(data, 'compression'));
  });
});

const bench = (suite: string) => run(['bench/main.ts', suite]);

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8' });
}

/** Settings by which git takes a repository of this machine for each publisher's. */
function clonesInPlaceOfPublishers(): Record<string, string> {
  const settings: Record<string, string> = { GIT_CONFIG_COUNT: String(names.length) };
  for (const [index, name] of names.entries()) {
    const repository = join(folder, `${name}-published`);
    for (const { from, named, count } of publicData[name].files) {
      mkdirSync(join(repository, from), { recursive: true });
      for (let file = 0; file < count; file++)
        writeFileSync(join(repository, from, named.replace('*', String(file))), '[]');
    }
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args]);
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message=data');
    settings[`GIT_CONFIG_KEY_${index}`] = `url.${pathToFileURL(repository).href}.insteadOf`;
    settings[`GIT_CONFIG_VALUE_${index}`] = publicData[name].repository;
  }
  return settings;
}
