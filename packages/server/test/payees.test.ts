import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC } from '../../chain/src/token/dev-token.ts';
import { openServices } from '../src/app/services.ts';
import { readConfig } from '../src/config/config.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tally-payees-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

const BOB = devAccount('bob').address;
const payee = (address: string) => ({
  chain_id: 31_337,
  asset: 'USDC',
  token: DEV_USDC,
  decimals: 6,
  address,
});

/** What the trust bundle says after a start with these settings. */
async function payeesWith(settings: NodeJS.ProcessEnv) {
  const config = readConfig({ TALLY_DATA_DIR: dataDir, PORT: '0', TALLY_LOG_LEVEL: 'silent', ...settings });
  const services = await openServices(config);
  const bundle = services.trust.bundle();
  await services.close();
  return bundle === null ? null : (JSON.parse(bundle.text) as { version: number; payees?: unknown });
}

it('the trust bundle names whoever is paid, and whoever was', async () => {
  const free = await payeesWith({ TALLY_DEVNET: 'off' });
  expect(free).not.toHaveProperty('payees');
  const first = await payeesWith({ TALLY_PAYMENTS: 'x402' });
  expect(first?.payees).toEqual([payee(devAccount('treasury').address)]);
  const same = await payeesWith({ TALLY_PAYMENTS: 'x402' });
  expect(same?.version).toBe(first?.version);
  const both = [payee(devAccount('treasury').address), payee(BOB)];
  expect((await payeesWith({ TALLY_PAYMENTS: 'x402', TALLY_TREASURY: BOB }))?.payees).toEqual(both);
  expect((await payeesWith({ TALLY_DEVNET: 'off' }))?.payees).toEqual(both);
});
