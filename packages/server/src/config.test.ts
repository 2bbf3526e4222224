import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, withAddress } from './config.ts';

const production = {
  NODE_ENV: 'production',
  TALLY_HANDLE: 'acme',
  TALLY_KEYRING: '/etc/tally/keyring.json',
  TALLY_RECEIPTS_URL: 'https://receipts.acme.test',
  TALLY_API_URL: 'https://api.acme.test/',
  TALLY_SITE_URL: 'https://acme.test',
  TALLY_CHAIN_ID: '8453',
  TALLY_CHAIN_NETWORK: 'base',
  TALLY_CHAIN_RPC_URL: 'https://rpc.acme.test/v1/s3cret',
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

describe('development', () => {
  it('needs nothing', () => {
    expect(readConfig({})).toMatchObject({
      mode: 'development',
      host: '127.0.0.1',
      port: 8787,
      receiptsUrl: 'http://127.0.0.1:8787',
      handle: 'local',
      database: { kind: 'sqlite', path: expect.stringMatching(/\/\.tally\/tally\.db$/) },
      keyring: { path: expect.stringMatching(/\/\.tally\/keyring\.json$/), passphrase: null },
      chain: { id: 31337, network: 'devnet', rpcUrl: null },
      region: null,
      freeMintPerDay: 0,
      trustedProxies: [],
      logLevel: 'warn',
      maxBodyBytes: 1_048_576,
    });
  });

  it.each([
    ['HOST', '::1', { receiptsUrl: 'http://[::1]:8787' }],
    ['HOST', '0.0.0.0', { siteUrl: 'http://localhost:8787' }],
    ['PORT', '0', { port: 0 }],
    ['PORT', '', { port: 8787 }],
    [
      'TALLY_API_URL',
      'http://localhost:9000/',
      { apiUrl: 'http://localhost:9000', derivedUrls: ['receiptsUrl', 'siteUrl'] },
    ],
    [
      'TALLY_DATABASE_URL',
      'postgres://u:p@db/x',
      { database: { kind: 'postgres', url: 'postgres://u:p@db/x' } },
    ],
    ['TALLY_KEYRING_PASSPHRASE', 'open', { keyring: { passphrase: { value: 'open' } } }],
    ['TALLY_KEYRING_PASSPHRASE_FILE', '/run/p', { keyring: { passphrase: { file: '/run/p' } } }],
    ['TALLY_REGION', 'eu-west-1', { region: 'eu-west-1' }],
    ['TALLY_FREE_MINT_PER_DAY', '5', { freeMintPerDay: 5 }],
    ['TALLY_LOG_LEVEL', 'debug', { logLevel: 'debug' }],
    [
      'TALLY_TRUSTED_PROXIES',
      '10.0.0.0/8, ::1',
      {
        trustedProxies: [
          { address: '10.0.0.0', prefix: 8, family: 'ipv4' },
          { address: '::1', prefix: 128, family: 'ipv6' },
        ],
      },
    ],
  ])('%s=%s', (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });
});

describe('faults', () => {
  it.each([
    ['PORT', '65536', /^PORT is "65536", not an integer from 0 to 65535; for example PORT=8787$/],
    ['PORT', '80x', /not an integer/],
    ['NODE_ENV', 'prod', /^NODE_ENV is "prod", not one of development, test, production/],
    [
      'TALLY_HANDLE',
      'Not A Handle',
      /^TALLY_HANDLE is "Not A Handle", which is malformed; for example TALLY_HANDLE=acme$/,
    ],
    ['TALLY_RECEIPTS_URL', 'http://acme.test', /https:\/\//],
    ['TALLY_RECEIPTS_URL', 'https://u:p@acme.test', /carries credentials/],
    ['TALLY_SITE_URL', 'acme.test', /not an http:\/\/ or https:\/\/ URL/],
    [
      'TALLY_DATABASE_URL',
      'mysql://root:hunter2@db',
      /^TALLY_DATABASE_URL is not a postgres:\/\/ or postgresql:\/\/ URL/,
    ],
    ['TALLY_CHAIN_NETWORK', 'eip155:1', /malformed/],
    ['TALLY_TRUSTED_PROXIES', '10.0.0.0/33', /holds "10.0.0.0\/33"/],
    ['TALLY_TRUSTED_PROXIES', '1.2.3.4/8/8', /malformed/],
    ['TALLY_MAX_BODY_BYTES', '10', /from 1024/],
  ])('%s=%s', (name, value, expected) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(expected)]);
  });

  it('are reported together', () => {
    expect(faultsOf({ PORT: 'x', TALLY_LOG_LEVEL: 'loud', TALLY_CHAIN_ID: '0' })).toHaveLength(3);
  });

  it('never show a secret', () => {
    const faults = faultsOf({
      TALLY_DATABASE_URL: 'mysql://root:hunter2@db',
      TALLY_CHAIN_RPC_URL: 'ftp://hunter2',
      TALLY_KEYRING_PASSPHRASE: 'hunter2',
      TALLY_KEYRING_PASSPHRASE_FILE: '/run/p',
    });
    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain('hunter2');
  });
});

describe('production', () => {
  it('starts when everything is told', () => {
    expect(readConfig(production)).toMatchObject({
      mode: 'production',
      apiUrl: 'https://api.acme.test',
      freeMintPerDay: 100,
      logLevel: 'info',
      derivedUrls: [],
    });
  });

  it('names everything that is not, with an example', () => {
    const names = Object.keys(production).filter((name) => name !== 'NODE_ENV');
    const faults = faultsOf({ NODE_ENV: 'production' });
    expect(faults.map((fault) => String(fault.split(' ')[0])).toSorted()).toEqual(names.toSorted());
    for (const fault of faults) expect(fault).toMatch(/is not set .*; for example TALLY_\w+=.+/);
  });
});

describe('withAddress', () => {
  it('moves the derived URLs to the real port and leaves the others', () => {
    const config = readConfig({ PORT: '0', TALLY_SITE_URL: 'https://acme.test' });
    expect(withAddress(config, { port: 4321 })).toMatchObject({
      port: 4321,
      receiptsUrl: 'http://127.0.0.1:4321',
      apiUrl: 'http://127.0.0.1:4321',
      siteUrl: 'https://acme.test',
    });
  });
});
