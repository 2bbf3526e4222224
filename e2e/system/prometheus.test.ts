import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../packages/server/test/free-port.ts';
import { until } from '../log-client.ts';
import { post, serve, temporaryFolder } from '../process.ts';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));
const rulesFile = join(deploy, 'prometheus', 'rules.yml');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const rules = (parse(readFileSync(rulesFile, 'utf8')) as Rules).groups
  .flatMap((group) => group.rules)
  .map(({ alert, expr }) => ({ name: alert, expr }));
const dashboard = JSON.parse(
  readFileSync(join(deploy, 'grafana', 'dashboards', 'tallystick.json'), 'utf8'),
) as Dashboard;
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    name: title,
    // What Grafana puts in place of its variables.
    expr: expr.replaceAll('$job', 'tallystick').replaceAll('$__rate_interval', '1m'),
  })),
);

const promtool = (...args: readonly string[]): string =>
  execFileSync('promtool', args, { cwd: join(deploy, 'prometheus'), encoding: 'utf8', stdio: 'pipe' });

describe('promtool', () => {
  it('takes the configuration and the rules', () => {
    expect(promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
    expect(promtool('check', 'rules', 'rules.yml')).toContain(`${rules.length} rules found`);
  });

  it('finds that each alarm fires when it should, and not before', () => {
    expect(promtool('test', 'rules', 'rules.test.yml')).toContain('SUCCESS');
  });
});

describe('a Prometheus that scrapes a service', () => {
  let prometheus: ChildProcess;
  let url: string;
  let exposed: Set<string>;

  beforeAll(async () => {
    const folder = temporaryFolder();
    const service = await serve({ TALLY_DATA_DIR: join(folder, 'data') });
    const messages = [{ role: 'user', content: 'Say it.' }];
    await post(`${service.url}/v1/compute/chat/completions`, { model: 'local/extract-1', messages });
    await post(`${service.url}/v1/receipt/free`, { input: 'x', purpose: 'test' });
    await post(`${service.url}/v1/receipt/free`, {});
    exposed = namesIn(await (await fetch(`${service.url}/metrics`)).text());
    const config = readFileSync(join(deploy, 'prometheus', 'prometheus.yml'), 'utf8')
      .replace('tallystick:8787', new URL(service.url).host)
      .replace('- rules.yml', `- ${rulesFile}`)
      .replaceAll(/(scrape|evaluation)_interval: 15s/g, '$1_interval: 1s');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    await until(samplesOf, (samples) => samples >= 3, 60);
  });
  afterAll(async () => {
    prometheus.kill('SIGTERM');
    await once(prometheus, 'exit');
  });

  /** How often the service was scraped; 0 while Prometheus does not answer. */
  async function samplesOf(): Promise<number> {
    const found = await query('count_over_time(up{job="tallystick"}[5m])').catch(() => null);
    return Number(found?.data.result[0]?.value[1] ?? 0);
  }

  async function query(expr: string): Promise<Answer> {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`);
    return (await response.json()) as Answer;
  }

  it.each([...rules, ...panels])(
    '$name: the query is answered, and its metrics are there',
    async ({ expr }) => {
      expect(await query(expr)).toMatchObject({ status: 'success' });
      const named = metricsIn(expr);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => name !== 'up' && !exposed.has(name))).toEqual([]);
    },
  );

  it.each(panels.filter(({ name }) => ALWAYS.has(name)))('$name shows something', async ({ expr }) => {
    expect((await query(expr)).data.result).not.toEqual([]);
  });

  it('evaluates every rule, and raises no alarm for a healthy service', async () => {
    const evaluated = async (): Promise<string[]> => {
      const response = await fetch(`${url}/api/v1/rules`);
      const { data } = (await response.json()) as { data: Evaluated };
      return data.groups.flatMap((group) =>
        group.rules.map(({ name, health, state }) => `${name} ${health} ${state}`),
      );
    };
    await expect.poll(evaluated, { timeout: 60_000 }).toEqual(rules.map(({ name }) => `${name} ok inactive`));
  });
});

/** Panels of what every service has, with or without calls of models and postings. */
const ALWAYS = new Set([
  'Requests',
  'Checks of /readyz',
  'Commit, 99th percentile',
  'What waits',
  'Free disk',
  'Hashes',
  'Age of the newest checkpoint',
  'Oldest hash that is not anchored',
  'Who leads and who accepts',
  'Posting account',
  'Memory',
  'CPU',
]);

interface Answer {
  readonly status: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

interface Evaluated {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly state: string }[];
  }[];
}

/** The names that samples of a page in the text format may have. */
function namesIn(page: string): Set<string> {
  const types = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
    ),
  );
}

/** The metrics that a query names. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  const names = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => !['and', 'or', 'unless'].includes(name)))];
}
