import { availableParallelism } from 'node:os';
import { noteKeyHash } from '@tallystick/core';
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
  TALLY_POSTING_KEY_FILE: '/etc/tally/posting.key',
};

const witnessKey = (type: number, bytes = 32, name = 'w.acme.test/1'): string => {
  const publicKey = new Uint8Array(bytes).fill(7);
  const id = noteKeyHash(name, type, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${Buffer.of(type, ...publicKey).toString('base64')}`;
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

describe('the mode', () => {
  it('is development under test runners too, which set NODE_ENV to test', () => {
    expect(readConfig({}).mode).toBe('development');
    expect(readConfig({ NODE_ENV: 'test' }).mode).toBe('development');
  });
});

describe('days', () => {
  it('of the list of calls are not fewer than those of what is kept of a call', () => {
    expect(readConfig({}).compute.callListDays).toBe(365);
    expect(readConfig({ TALLY_KEEP_CONTENT_DAYS: '400' }).compute.callListDays).toBe(400);
    const short = { TALLY_KEEP_CONTENT_DAYS: '31', TALLY_CALL_LIST_DAYS: '30' };
    expect(faultsOf(short)).toEqual([expect.stringMatching(/^TALLY_KEEP_CONTENT_DAYS must not be more/)]);
    expect(faultsOf({ ...short, TALLY_CALL_LIST_DAYS: '0' })).toEqual([]);
  });
});

describe('workers', () => {
  it('are one, a number, or as many as there are cores', () => {
    expect(readConfig({}).workers).toBe(1);
    expect(readConfig({ TALLY_WORKERS: '3' }).workers).toBe(3);
    expect(readConfig({ TALLY_WORKERS: 'auto' }).workers).toBe(availableParallelism());
    expect(faultsOf({ TALLY_WORKERS: '0' })[0]).toMatch(/^TALLY_WORKERS /);
  });
});

describe('development', () => {
  it('needs nothing', () => {
    expect(readConfig({})).toMatchObject({
      mode: 'development',
      host: '127.0.0.1',
      port: 8787,
      receiptsUrl: 'http://127.0.0.1:8787',
      handle: null,
      database: { kind: 'sqlite', path: expect.stringMatching(/\/\.tally\/tally\.db$/) },
      keyring: { path: expect.stringMatching(/\/\.tally\/keyring\.json$/), passphrase: null },
      chain: {
        id: 31337,
        network: 'devnet',
        rpcUrl: null,
        devnet: true,
        postingKeyFile: expect.stringMatching(/\/\.tally\/posting\.key$/),
        finality: { kind: 'confirmations', count: 1 },
      },
      log: {
        origin: '127.0.0.1:8787',
        originDerived: true,
        periodSeconds: 10,
        witnesses: [],
        storage: null,
      },
      operator: { region: null, trainingRegion: null, hardwareClass: null, attestation: null },
      freeMintPerDay: 0,
      freeReadPerDay: 0,
      trustedProxies: [],
      logLevel: 'warn',
      maxBodyBytes: 1_048_576,
    });
  });

  it.each([
    ['HOST', '::1', { receiptsUrl: 'http://[::1]:8787' }],
    ['HOST', '0.0.0.0', { siteUrl: 'http://localhost:8787' }],
    ['PORT', '0', { port: 0 }],
    ['HOST', 'unix:/run/t.sock', { receiptsUrl: 'http://localhost', socketMode: 0o660 }],
    ['TALLY_SOCKET_MODE', '0600', { socketMode: 0o600 }],
    ['PORT', '', { port: 8787 }],
    [
      'TALLY_API_URL',
      'http://localhost:9000/',
      { apiUrl: 'http://localhost:9000', derivedUrls: ['receiptsUrl', 'siteUrl'] },
    ],
    [
      'TALLY_DATABASE_URL',
      'postgres://u:p@db/x',
      {
        database: {
          kind: 'postgres',
          url: 'postgres://u:p@db/x',
          limits: { connections: 10, queryMs: 10_000 },
        },
      },
    ],
    ['TALLY_KEYRING_PASSPHRASE', 'open', { keyring: { passphrase: 'open' } }],
    [
      'TALLY_DATABASE_URL',
      'postgres://u:p@db1:5432,db2:5433/x?target_session_attrs=primary',
      { database: { kind: 'postgres', waitMs: 60_000 } },
    ],
    ['TALLY_REGION', 'eu-west-1', { operator: { region: 'eu-west-1' } }],
    ['TALLY_TRAINING_REGION', 'eu-north-1', { operator: { trainingRegion: 'eu-north-1' } }],
    ['TALLY_HARDWARE_CLASS', 'nvidia-h100', { operator: { hardwareClass: 'nvidia-h100' } }],
    ['TALLY_FREE_MINT_PER_DAY', '5', { freeMintPerDay: 5 }],
    ['TALLY_FREE_READ_PER_DAY', '5', { freeReadPerDay: 5 }],
    ['TALLY_PAYMENTS', 'x402', { freeReadPerDay: 100 }],
    ['TALLY_LOG_LEVEL', 'debug', { logLevel: 'debug' }],
    ['TALLY_CHAIN_RPC_URL', 'http://127.0.0.1:8545', { chain: { devnet: false } }],
    ['TALLY_DEVNET', 'off', { chain: { devnet: false, rpcUrl: null } }],
    ['TALLY_CHAIN_FINALITY', 'finalized', { chain: { finality: { kind: 'finalized' } } }],
    ['TALLY_CHAIN_FINALITY', '12', { chain: { finality: { kind: 'confirmations', count: 12 } } }],
    ['TALLY_ANCHOR_PERIOD_SECONDS', '1', { log: { periodSeconds: 1 } }],
    [
      'TALLY_API_URL',
      'https://api.acme.test/x/',
      { log: { origin: 'api.acme.test/x', originDerived: false } },
    ],
    ['TALLY_LOG_ORIGIN', 'log.acme.test', { log: { origin: 'log.acme.test', originDerived: false } }],
    [
      'TALLY_WITNESSES',
      `${witnessKey(1)} https://w.acme.test/1/, ${witnessKey(4)}  http://127.0.0.1:9000`,
      {
        log: {
          witnesses: [
            { name: 'w.acme.test/1', publicKey: new Uint8Array(32).fill(7), url: 'https://w.acme.test/1' },
            { name: 'w.acme.test/1', publicKey: new Uint8Array(32).fill(7), url: 'http://127.0.0.1:9000' },
          ],
        },
      },
    ],
    [
      'TALLY_LOG_STORAGE',
      'file:///srv/a%20log',
      { log: { storage: { kind: 'directory', path: '/srv/a log' } } },
    ],
    [
      'TALLY_LOG_STORAGE',
      's3://acme-log',
      { log: { storage: { kind: 's3', bucket: 'acme-log', prefix: '', region: null, endpoint: null } } },
    ],
    ['TALLY_LOG_STORAGE', 's3://acme/a/b', { log: { storage: { bucket: 'acme', prefix: 'a/b/' } } }],
    ['TALLY_LOG_STORAGE', 's3://acme/a/', { log: { storage: { bucket: 'acme', prefix: 'a/' } } }],
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

it('a bucket is reached by the settings of AWS', () => {
  const { storage } = readConfig({
    TALLY_LOG_STORAGE: 's3://acme',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'hunter2',
    AWS_SHARED_CREDENTIALS_FILE: '/etc/aws',
    AWS_PROFILE: 'log',
  }).log;
  expect(storage).toEqual({
    kind: 's3',
    bucket: 'acme',
    prefix: '',
    region: 'eu-west-1',
    endpoint: 'http://127.0.0.1:9000',
    credentials: { accessKeyId: 'id', secretAccessKey: 'hunter2' },
    file: { filepath: '/etc/aws', profile: 'log' },
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
    ['TALLY_RECEIPTS_URL', 'https://u:p@acme.test', /contains credentials/],
    ['TALLY_SITE_URL', 'acme.test', /not an http:\/\/ or https:\/\/ URL/],
    [
      'TALLY_DATABASE_URL',
      'mysql://root:hunter2@db',
      /^TALLY_DATABASE_URL is not a postgres:\/\/ or postgresql:\/\/ URL/,
    ],
    ['TALLY_CHAIN_NETWORK', 'eip155:1', /malformed/],
    ['TALLY_CHAIN_NETWORK', 'pending', /malformed/],
    ['TALLY_CHAIN_FINALITY', '0', /malformed/],
    ['TALLY_CHAIN_FINALITY', 'safe', /malformed/],
    ['TALLY_ANCHOR_PERIOD_SECONDS', '0', /from 1 to 86400/],
    ['TALLY_LOG_ORIGIN', 'a log', /malformed/],
    ['TALLY_LOG_ORIGIN', 'a+b', /malformed/],
    ['TALLY_DEVNET', 'yes', /not one of on, off/],
    ['TALLY_WITNESSES', witnessKey(1), /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(4, 1312)} https://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(6)} https://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(6, 1311)} https://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(6, 1312, 'w'.repeat(256))} https://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(1)} http://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(1)} https://w.acme.test more`, /malformed/],
    ['TALLY_WITNESSES', `${witnessKey(2)} https://w.acme.test`, /malformed/],
    ['TALLY_WITNESSES', `x${witnessKey(1)} https://w.acme.test`, /malformed/],
    ['TALLY_LOG_STORAGE', '/srv/log', /malformed; for example TALLY_LOG_STORAGE=s3:\/\/acme-log\/receipts$/],
    ['TALLY_LOG_STORAGE', 'file:///', /malformed/],
    ['TALLY_LOG_STORAGE', 'file://host/srv', /malformed/],
    ['TALLY_LOG_STORAGE', 's3://key:secret@acme', /malformed/],
    ['TALLY_LOG_STORAGE', 's3://acme:9000/a', /malformed/],
    ['TALLY_LOG_STORAGE', 's3://acme/a?b', /malformed/],
    ['TALLY_LOG_STORAGE', 's3://acme/a//b', /malformed/],
    ['TALLY_LOG_STORAGE', 'https://acme.s3.example.com', /malformed/],
    ['AWS_ENDPOINT_URL_S3', 's3.example.com', /malformed/],
    ['TALLY_TRUSTED_PROXIES', '10.0.0.0/33', /holds "10.0.0.0\/33"/],
    ['TALLY_TRUSTED_PROXIES', '1.2.3.4/8/8', /malformed/],
    ['TALLY_MAX_BODY_BYTES', '10', /from 1024/],
    ['TALLY_TRUSTED_PROXIES', 'unix', /holds unix, but HOST is no Unix socket/],
    ['TALLY_DATADIR', '/srv/tally', /^TALLY_DATADIR is not a setting; did you mean TALLY_DATA_DIR\?$/],
    ['TALLY_TRUSTED_PROXYS', '10.0.0.0/8', /did you mean TALLY_TRUSTED_PROXIES\?$/],
    ['HOST', 'unix:relative.sock', /malformed/],
    ['TALLY_SOCKET_MODE', '888', /malformed/],
  ])('%s=%s', (name, value, expected) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(expected)]);
  });

  it('are not variables of clients, of Kubernetes for a service of that name, or empty ones', () => {
    const others = { TALLY_URL: 'x', TALLY_HOME: 'x', TALLY_API_KEY: 'x', TALLY_PORT: 'tcp://10.0.0.1:80' };
    expect(faultsOf({ ...others, TALLY_SERVICE_HOST: '10.0.0.1', TALLY_DATADIR: '' })).toEqual([]);
  });

  it('a database that is waited for no longer than it may take', () => {
    const faults = faultsOf({ TALLY_DATABASE_QUERY_TIMEOUT_MS: '8000' });
    expect(faults).toEqual([
      'TALLY_DATABASE_QUERY_TIMEOUT_MS is 8000, which is not longer than TALLY_DATABASE_STATEMENT_TIMEOUT_MS; for example TALLY_DATABASE_QUERY_TIMEOUT_MS=10000',
    ]);
    expect(faultsOf({ TALLY_DATABASE_POOL: '1' })).toEqual([expect.stringMatching(/from 2 to 1000/)]);
  });

  it('a development chain beside another one', () => {
    const faults = faultsOf({ TALLY_DEVNET: 'on', TALLY_CHAIN_RPC_URL: 'http://127.0.0.1:8545' });
    expect(faults).toEqual([expect.stringMatching(/^TALLY_DEVNET is on, but/)]);
    expect(faultsOf({ ...production, TALLY_DEVNET: 'on' })).toHaveLength(1);
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
      freeReadPerDay: 100,
      logLevel: 'info',
      derivedUrls: [],
      chain: {
        devnet: false,
        finality: { kind: 'finalized' },
        postingKeyFile: '/etc/tally/posting.key',
      },
      log: { origin: 'api.acme.test', originDerived: false, periodSeconds: 3600 },
    });
  });

  it.each(['0.0.0.0/0', '10.0.0.0/8, ::/0'])('trusts not everybody as a proxy: %s', (proxies) => {
    expect(readConfig({ TALLY_TRUSTED_PROXIES: proxies }).trustedProxies).not.toEqual([]);
    expect(faultsOf({ ...production, TALLY_TRUSTED_PROXIES: proxies })).toEqual([
      expect.stringMatching(/^TALLY_TRUSTED_PROXIES holds every address there is/),
    ]);
  });

  it('names everything that is not, with an example', () => {
    const names = Object.keys(production).filter((name) => name !== 'NODE_ENV');
    const faults = faultsOf({ NODE_ENV: 'production' });
    expect(faults.map((fault) => String(fault.split(' ')[0])).toSorted()).toEqual(names.toSorted());
    for (const fault of faults) expect(fault).toMatch(/is not set .*; for example TALLY_\w+=.+/);
  });
});

describe('a socket that systemd passes', () => {
  const pid = String(process.pid);

  it.each([
    ['to this process', { LISTEN_PID: pid, LISTEN_FDS: '1' }, 3],
    ['to another process', { LISTEN_PID: '1', LISTEN_FDS: '1' }, null],
    ['to nobody', {}, null],
  ])('%s', (_, env, listenFd) => {
    expect(readConfig(env)).toMatchObject({ listenFd });
  });

  it('may be one only', () => {
    expect(faultsOf({ LISTEN_PID: pid, LISTEN_FDS: '2' })).toEqual([
      'LISTEN_FDS is "2", but the service takes one socket: keep one Listen line in the socket unit',
    ]);
  });
});

describe('withAddress', () => {
  it('moves the derived URLs to the real port and leaves the others', () => {
    const config = readConfig({ PORT: '0', TALLY_SITE_URL: 'https://acme.test' });
    expect(withAddress(config, { address: '127.0.0.1', port: 4321 })).toMatchObject({
      port: 4321,
      receiptsUrl: 'http://127.0.0.1:4321',
      apiUrl: 'http://127.0.0.1:4321',
      siteUrl: 'https://acme.test',
      log: { origin: '127.0.0.1:4321' },
    });
  });

  it('names the host of a socket that was passed, not the one that is set', () => {
    const config = readConfig({ HOST: '192.0.2.1', LISTEN_PID: String(process.pid), LISTEN_FDS: '1' });
    const at = withAddress(config, { address: '::1', port: 4321 });
    expect(at).toMatchObject({ host: '::1', apiUrl: 'http://[::1]:4321' });
  });

  it('leaves an origin that was chosen', () => {
    const config = readConfig({ PORT: '0', TALLY_LOG_ORIGIN: 'log.acme.test' });
    expect(withAddress(config, { address: '127.0.0.1', port: 4321 }).log.origin).toBe('log.acme.test');
  });
});
