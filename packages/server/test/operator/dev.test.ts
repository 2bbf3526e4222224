import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
const SOMEBODY = '0x52908400098527886E0F7030069857D2E4169EE7';
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'), { env: { TALLY_DEVNET: 'on', TALLY_PAYMENTS: 'x402' } });
});
afterAll(async () => {
  await service.stop();
  remove();
});

const dev = (...args: string[]): Promise<Ran> => tally(['dev', ...args], { env: service.env });
const parsed = async (...args: string[]) => JSON.parse((await dev(...args, '--json')).stdout);

describe('test money', () => {
  test('comes from the faucet, on top of what is there', async () => {
    expect(await parsed('faucet', SOMEBODY, '--amount', '25.5')).toEqual({
      address: SOMEBODY,
      given: '25.5',
      usdc: '25.5',
      ether: '1',
    });
    expect((await dev('faucet', SOMEBODY)).stdout).toBe(
      `${SOMEBODY} has 125.5 test USDC and 1 test ether.\n`,
    );
  });

  test('is with the wallets that everyone knows', async () => {
    const { chain_id, usdc, rpc_url, wallets } = await parsed('wallets');
    expect({ chain_id, usdc }).toEqual({
      chain_id: 31_337,
      usdc: '0x05Dc000000000000000000000000000000000006',
    });
    expect(rpc_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const rows = wallets as { name: string; usdc: string; ether: string; secret_key: string }[];
    expect(rows.map((row) => [row.name, row.usdc, row.ether])).toEqual([
      ['treasury', '0', '1'],
      ['facilitator', '0', '1'],
      ['alice', '100', '1'],
      ['bob', '100', '1'],
    ]);
    for (const { secret_key } of rows) expect(secret_key).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await parsed('faucet', '--amount', '1')).usdc).toBe('101');
    const shown = await dev('wallets');
    expect(shown.stdout).toMatch(/alice +0x[0-9a-fA-F]{40} +101 USDC/);
    expect(shown.stdout + shown.stderr).not.toContain(rows[0]?.secret_key);
    expect(shown.stderr).toContain('Everyone knows the keys');
  });

  test.each([
    [['faucet', '0x12'], /address is 0x and 40 hex/],
    [['faucet', '--amount', '0'], /greater than 0/],
    [['faucet', '--amount', '0.0000001'], /at most 6 decimals/],
  ])('is refused: %j', async (args, message) => {
    const { code, stderr } = await dev(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe('there is none', () => {
  const refused = async (env: Record<string, string>): Promise<Ran> =>
    tally(['dev', 'faucet', SOMEBODY, '--json'], { env });

  test.each([
    [
      'on another chain',
      { TALLY_CHAIN_RPC_URL: 'https://rpc.example.com/v1/s3cret' },
      /no development chain/,
    ],
    ['without a chain', { TALLY_DEVNET: 'off' }, /no development chain/],
    [
      'where no service ever ran',
      { TALLY_DATA_DIR: '/nowhere' },
      /There is no development chain in \/nowhere/,
    ],
  ])('%s', async (_, env, message) => {
    const { code, stdout } = await refused({ TALLY_DATA_DIR: at('data'), ...env });
    expect([code, stdout]).toEqual([2, expect.stringMatching(message)]);
    expect(stdout).not.toContain('s3cret');
  });

  test('in production', async () => {
    expect((await refused({ TALLY_DATA_DIR: at('data'), NODE_ENV: 'production' })).code).toBe(2);
  });

  test('where payments are off', async () => {
    const off = await serve(at('off'), { env: { TALLY_DEVNET: 'on' } });
    const { code, stdout } = await refused(off.env);
    await off.stop();
    expect([code, stdout]).toEqual([2, expect.stringMatching(/no test money/)]);
    const stopped = await refused(off.env);
    expect([stopped.code, stopped.stdout]).toEqual([2, expect.stringMatching(/tally serve/)]);
  });
});
