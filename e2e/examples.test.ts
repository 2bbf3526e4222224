import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devSecretKey } from '../packages/chain/src/token/dev-accounts.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const examples = join(root, 'examples');
const INTACT = 'receipt: intact true, from a trusted issuer true\n';

/** Runs a command in a folder of its own, with `tally` on the path, and gives what it printed. */
function run(command: readonly string[], { cwd, env }: { readonly cwd: string; readonly env: Env }): string {
  const [program = '', ...args] = command;
  const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`;
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { PATH: path, ...env },
    encoding: 'utf8',
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

describe('examples/', () => {
  const folder = temporaryFolder();
  const home = { TALLY_HOME: join(folder, 'home'), TALLY_DATA_DIR: join(folder, 'data') };
  let service: Served;
  let env: Env;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: home.TALLY_DATA_DIR, TALLY_ANCHOR_PERIOD_SECONDS: '1' });
    env = { ...home, TALLY_URL: service.url };
  });
  afterAll(() => service.kill('SIGTERM'));

  /** A folder that holds nothing. */
  const empty = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  };

  test('are all listed', () => {
    const listed = [...readFileSync(join(examples, 'README.md'), 'utf8').matchAll(/^\| \[([^\]]+)\]/gm)];
    const files = readdirSync(examples).filter((file) => !['README.md', 'robot-day.csv'].includes(file));
    expect(new Set(listed.map(([, file]) => file))).toEqual(new Set(files));
  });

  test('curl.sh', () => {
    expect(run(['bash', join(examples, 'curl.sh')], { cwd: empty('curl'), env })).toMatch(
      /"integrity":true.*\nThe receipt of the answer is r_\w+\.\n$/s,
    );
  });

  test.each(['openai.mjs', 'ai-sdk.mjs', 'langchain.mjs'])('%s', (file) => {
    const said = run([process.execPath, join(examples, file)], { cwd: empty(file), env });
    expect(said).toContain('7:40');
    expect(said.endsWith(INTACT)).toBe(true);
  });

  test('robot-day.sh', () => {
    const said = run(['bash', join(examples, 'robot-day.sh')], { cwd: empty('robot-day'), env });
    expect(said).toMatch(/^.*Valid/m);
  });

  test('anchor-hashes.mjs', async () => {
    const { stdout } = await tally(['apikey', 'create', '--tier', 'pro'], home);
    const file = join(examples, 'robot-day.csv');
    const said = run([process.execPath, join(examples, 'anchor-hashes.mjs'), file], {
      cwd: empty('anchor-hashes'),
      env: { ...env, TALLY_API_KEY: stdout.trim() },
    });
    expect(said).toMatch(/: leaf \d+, under the root in transaction 0x[0-9a-f]{64}\n$/);
  });

  test('verify-in-ci.yml', () => {
    const cwd = empty('verify-in-ci');
    mkdirSync(join(cwd, 'receipts'));
    run(['tally', 'mint', '--text', 'x', '--purpose', 'demo', '--out', 'receipts/one.json'], { cwd, env });
    run(['tally', 'trust', 'fetch', '--out', 'trust.json'], { cwd, env });
    const workflow = readFileSync(join(examples, 'verify-in-ci.yml'), 'utf8');
    const [step = ''] = [...workflow.matchAll(/- run: (tally .*)/g)].map(([, line]) => line);
    expect(run(['bash', '-c', step], { cwd, env: {} })).toContain('Valid');
    const changed = readFileSync(join(cwd, 'receipts/one.json'), 'utf8').replace('demo', 'deal');
    run(['bash', '-c', `cat > receipts/two.json <<'END'\n${changed}\nEND\n! ${step}`], { cwd, env: {} });
  });

  test('auditor.sh', () => {
    const said = run(['bash', join(examples, 'auditor.sh')], { cwd: empty('auditor'), env });
    expect(said).toContain('✓ Intact, and signed under a root that you know');
    expect(said).toMatch(/receipts +1:/);
  });
});

describe('an example with payments', () => {
  let service: Served;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_PAYMENTS: 'x402' });
  });
  afterAll(() => service.kill('SIGTERM'));

  test('x402-agent.mjs', () => {
    const env = { TALLY_URL: service.url, WALLET_KEY: devSecretKey('alice') };
    expect(run([process.execPath, join(examples, 'x402-agent.mjs')], { cwd: temporaryFolder(), env })).toBe(
      `${INTACT}the receipt names the payment: true\n`,
    );
  });
});
