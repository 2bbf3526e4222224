import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devSecretKey } from '../packages/chain/src/token/dev-accounts.ts';
import { type Served, serve, temporaryFolder } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/payments.md'), 'utf8');
const [snippet] = [...page.matchAll(/```ts run\n([\s\S]*?)```/g)].map(([, code = '']) => code);

describe('docs/payments.md', () => {
  let service: Served;
  // Beside the packages that it imports.
  const script = join(root, 'e2e/payments-docs.run.ts');

  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_PAYMENTS: 'x402' });
  });
  afterAll(async () => {
    rmSync(script, { force: true });
    await service.kill('SIGTERM');
  });

  test('pays as printed', () => {
    writeFileSync(script, (snippet ?? '').replaceAll('http://127.0.0.1:8787', service.url));
    const env = { ...process.env, WALLET_KEY: devSecretKey('alice') };
    const { stdout, stderr, status } = spawnSync(process.execPath, [script], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr: status === 0 ? '' : stderr }).toEqual({
      status: 0,
      stdout: 'true\n',
      stderr: '',
    });
  });

  test('and the service lists what can be paid for', async () => {
    const response = await fetch(`${service.url}/.well-known/x402`);
    const list = (await response.json()) as { network: string; resources: { url: string; method: string }[] };
    expect(list).toMatchObject({ x402Version: 2, network: 'eip155:31337' });
    const paths = list.resources.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
    expect(paths).toEqual(
      expect.arrayContaining([
        'POST /v1/receipt/emit',
        'POST /v1/anchor/keys',
        'POST /v1/balance/topup',
        'POST /v1/compute/chat/completions',
        'GET /v1/compute/models',
      ]),
    );
  });
});
