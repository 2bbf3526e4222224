import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAnvil, type TestAnvil } from '../../packages/server/test/anvil.ts';
import { type Env, type Served, serve, temporaryFolder } from '../process.ts';
import { type PostgresCluster, startCluster } from './postgres-cluster.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/operating/README.md'), 'utf8');
const blocks = [...page.matchAll(/```sh guide\n([\s\S]*?)```/g)].map(([, script = '']) => script);
/** The first block that needs a service that runs. */
const RUNNING = blocks.findIndex((script) => script.startsWith('tally trust draft'));

describe('docs/operating/README.md leads from nothing to a receipt that the chain dates', () => {
  const folder = temporaryFolder();
  let postgres: PostgresCluster;
  let chain: TestAnvil;
  let service: Served | undefined;
  beforeAll(async () => {
    mkdirSync(join(folder, 'root'));
    postgres = await startCluster(folder);
    chain = await startAnvil(8453);
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await chain.stop();
    await postgres.stop();
  });

  /** The block for the machine of the test: other folders, ports and addresses, and not a word else. */
  const here = (script: string): string =>
    script
      .replaceAll('runuser --user postgres -- psql', 'psql --username postgres')
      .replaceAll('/etc/tallystick', join(folder, 'etc'))
      .replaceAll('/var/lib/tallystick', join(folder, 'data'))
      .replaceAll('/root/', join(folder, 'root/'))
      .replaceAll('127.0.0.1:5432', `127.0.0.1:${postgres.port}`)
      .replaceAll('https://mainnet.base.example', chain.rpcUrl)
      .replaceAll('http://127.0.0.1:8787', service?.url ?? '');

  /** What `tally` has in its environment, by its wrapper, once the page has written the settings. */
  const settings = (): Env => {
    const file = join(folder, 'etc/tallystick.env');
    if (!existsSync(file)) return {};
    const wrapper = readFileSync(join(root, 'deploy/systemd/tally'), 'utf8');
    const own = wrapper.match(/^[A-Z_]+=.*$/gm)?.join('\n') ?? '';
    return parseEnv(`${readFileSync(file, 'utf8')}\n${here(own)}`) as Env;
  };

  const walk = (script: string): void => {
    test(`${script.trim().split('\n').at(-1)}`, () => {
      const env = {
        PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        TALLY_HOME: join(folder, 'home'),
        ...settings(),
        ...(service && { TALLY_URL: service.url }),
      };
      const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', here(script)], {
        cwd: folder,
        env,
        encoding: 'utf8',
      });
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    });
  };

  test('in several steps', () => {
    expect(blocks.length).toBeGreaterThan(6);
    expect(RUNNING).toBeGreaterThan(1);
  });

  for (const script of blocks.slice(0, RUNNING)) walk(script);

  test('the service starts, and its account gets some coin', async () => {
    service = await serve({
      ...settings(),
      PORT: '0',
      // Not the hour and the finality of a real chain.
      TALLY_ANCHOR_PERIOD_SECONDS: '2',
      TALLY_CHAIN_FINALITY: '1',
      TALLY_LAME_DUCK_SECONDS: '0',
    });
    const key = readFileSync(join(folder, 'etc/posting.key'), 'utf8').trim();
    const { address } = privateKeyToAccount(`0x${key}`);
    await chain.rpc('anvil_setBalance', address, '0xde0b6b3a7640000');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });

  for (const script of blocks.slice(RUNNING)) walk(script);
});
