import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const chain = { TALLY_CHAIN_RPC_URL: 'https://rpc.acme.test/v1/s3cret' };
const told = {
  TALLY_PAYMENTS: 'x402',
  TALLY_TREASURY: ADDRESS,
  TALLY_USDC: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  TALLY_X402_FACILITATOR: 'https://facilitator.acme.test/x402/',
};
const production = {
  ...chain,
  NODE_ENV: 'production',
  TALLY_HANDLE: 'acme',
  TALLY_KEYRING: '/etc/tally/keyring.json',
  TALLY_RECEIPTS_URL: 'https://receipts.acme.test',
  TALLY_API_URL: 'https://api.acme.test/',
  TALLY_SITE_URL: 'https://acme.test',
  TALLY_CHAIN_ID: '8453',
  TALLY_CHAIN_NETWORK: 'base',
  TALLY_POSTING_KEY_FILE: '/etc/tally/posting.key',
};

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('payments', () => {
  it('are off, unless somebody turns them on', () => {
    const off = { mode: 'off', treasury: null, usdc: null, facilitatorUrl: null };
    expect(readConfig({}).payments).toMatchObject({ ...off, confirmations: 1 });
    expect(readConfig(production).payments).toMatchObject({ ...off, confirmations: 12 });
  });

  it('need nothing but a word on the development chain', () => {
    const { payments } = readConfig({ TALLY_PAYMENTS: 'x402' });
    expect(payments).toMatchObject({
      mode: 'x402',
      treasury: null,
      usdc: null,
      confirmations: 1,
      facilitatorUrl: null,
    });
  });

  it.each(['TALLY_TREASURY', 'TALLY_USDC'])('refuse a %s whose checksum is wrong', (name) => {
    const wrong = '0x52908400098527886E0F7030069857D2E4169ee7';
    expect(faultsOf({ ...production, ...told, [name]: wrong })).toEqual([
      expect.stringContaining(`${name} has a wrong checksum`),
    ]);
  });

  it.each(['TALLY_TREASURY', 'TALLY_USDC'])('refuse a %s of zeros', (name) => {
    expect(faultsOf({ ...production, ...told, [name]: `0x${'0'.repeat(40)}` })).toEqual([
      expect.stringContaining(`${name} is the address of nobody`),
    ]);
  });

  it.each([
    ['production', production],
    ['another chain', chain],
  ])('of %s are told who is paid, in what, and by whose hand', (_, env) => {
    expect(readConfig({ ...env, ...told, TALLY_USDC_CONFIRMATIONS: '3' }).payments).toMatchObject({
      mode: 'x402',
      treasury: ADDRESS,
      usdc: told.TALLY_USDC,
      confirmations: 3,
      facilitatorUrl: 'https://facilitator.acme.test/x402',
    });
    expect(faultsOf({ ...env, TALLY_PAYMENTS: 'x402' })).toEqual([
      expect.stringMatching(/^TALLY_TREASURY is not set, and payments have no default .*TALLY_TREASURY=0x/),
      expect.stringMatching(/^TALLY_USDC is not set.*TALLY_USDC=0x/),
      expect.stringMatching(/^TALLY_X402_FACILITATOR is not set.*=https:/),
    ]);
  });

  it.each([
    ['TALLY_PAYMENTS', 'on', /not one of off, x402/],
    ['TALLY_TREASURY', '0x12', /malformed; for example TALLY_TREASURY=0x/],
    ['TALLY_USDC', 'usdc.eth', /malformed/],
    ['TALLY_USDC_CONFIRMATIONS', '0', /not an integer from 1/],
    ['TALLY_X402_FACILITATOR', 'http://facilitator.acme.test', /use https/],
    ['TALLY_X402_FACILITATOR', 'facilitator', /not an http/],
  ])('a fault is said once: %s=%s', (name, value, expected) => {
    expect(faultsOf({ ...chain, ...told, [name]: value })).toEqual([expect.stringMatching(expected)]);
  });

  it('need a chain', () => {
    expect(faultsOf({ TALLY_PAYMENTS: 'x402', TALLY_DEVNET: 'off' })).toEqual([
      expect.stringMatching(/^TALLY_PAYMENTS is x402, but there is no chain/),
    ]);
  });

  it('never show the credentials of a URL that should have none', () => {
    const [fault = ''] = faultsOf({ ...chain, ...told, TALLY_X402_FACILITATOR: 'https://u:s3cret@f.test' });
    expect(fault).toMatch(/contains credentials/);
    expect(fault).not.toContain('s3cret');
  });
});
