import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkConfig, readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: string, name = 'config.json'): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function faultsOf(document: unknown, env: NodeJS.ProcessEnv = {}): readonly string[] {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return checkConfig({ ...env, TALLY_CONFIG: fileOf(text) }).faults;
}

describe('the configuration file', () => {
  it('gives every kind of setting, and the catalogue', () => {
    const path = fileOf(
      JSON.stringify({
        settings: {
          PORT: 9000,
          TALLY_REGION: 'eu-1',
          TALLY_LOG_LEVEL: 'debug',
          TALLY_MCP_HOSTS: ['a.test', 'b.test'],
          TALLY_API_URL: 'https://api.acme.test/',
        },
        models: [{ id: 'local/extract-1', enabled: false }],
      }),
    );
    expect(readConfig({ TALLY_CONFIG: path })).toMatchObject({
      port: 9000,
      operator: { region: 'eu-1' },
      logLevel: 'debug',
      mcpHosts: ['a.test', 'b.test'],
      apiUrl: 'https://api.acme.test',
      compute: { catalogue: { models: [{ id: 'local/extract-1', enabled: false }] } },
    });
  });

  it('is outranked by the environment, but not by an empty variable', () => {
    const TALLY_CONFIG = fileOf('{"settings": {"PORT": 9000, "TALLY_REGION": "eu-1"}}');
    expect(readConfig({ TALLY_CONFIG, PORT: '9001', TALLY_REGION: '' })).toMatchObject({
      port: 9001,
      operator: { region: 'eu-1' },
    });
  });

  it('satisfies production', () => {
    const faults = faultsOf(
      { settings: { TALLY_HANDLE: 'acme', TALLY_CHAIN_ID: 8453 } },
      { NODE_ENV: 'production' },
    );
    expect(faults.map((fault) => fault.split(' ')[0])).not.toContain('TALLY_HANDLE');
    expect(faults.map((fault) => fault.split(' ')[0])).not.toContain('TALLY_CHAIN_ID');
  });

  it('and the environment have their faults reported together, each with its place', () => {
    const faults = faultsOf(
      {
        settings: { PORT: '80', TALLY_DRAIN_SECOND: 5, TALLY_HANDLE: 'Not A Handle' },
        models: [{ id: 'x' }, { id: 'local/extract-1', context: 0 }],
      },
      { TALLY_LOG_LEVEL: 'loud' },
    );
    for (const expected of [
      /^PORT in \S+ is "80", not an integer/,
      /^TALLY_HANDLE in \S+ is "Not A Handle", which is malformed; for example/,
      /^TALLY_LOG_LEVEL is "loud", not one of/,
      /config\.json: models\[0\]\.id: Not <provider>\/<model>/,
      /config\.json: models\[1\]\.context: /,
      /^TALLY_DRAIN_SECOND in \S+ is not a setting; did you mean TALLY_DRAIN_SECONDS\?/,
    ])
      expect(faults).toContainEqual(expect.stringMatching(expected));
    expect(faults).toHaveLength(6);
  });

  it.each([
    ['{', /is not JSON/],
    ['{"settings": {}, "settings": {}}', /is not JSON: .*settings/],
    ['[]', /is not a JSON object/],
    ['{"settings": 1}', /settings in \S+ is not an object/],
  ])('%s is one fault', (text, expected) => {
    expect(faultsOf(text)).toEqual([expect.stringMatching(expected)]);
  });

  it('that is not there is a fault that names the variable', () => {
    expect(checkConfig({ TALLY_CONFIG: join(folder, 'none.json') }).faults).toEqual([
      expect.stringMatching(/^TALLY_CONFIG names \S+none\.json, which can't be read \(ENOENT\)/),
    ]);
  });
});

const SECRETS = [
  ['TALLY_DATABASE_URL', 'postgres://u:hunter2@db/x'],
  ['TALLY_KEYRING_PASSPHRASE', 'hunter2'],
  ['TALLY_CHAIN_RPC_URL', 'https://rpc.acme.test/hunter2'],
  ['TALLY_SMTP_URL', 'smtps://u:hunter2@mail.acme.test'],
  ['OPENAI_API_KEY', 'hunter2'],
  ['MY_KEY', 'hunter2'],
  ['TALLY_PKCS11_PIN', 'hunter2'],
  ['AWS_SESSION_TOKEN', 'hunter2'],
  ['AWS_BEARER_TOKEN_BEDROCK', 'hunter2'],
] as const;

describe('a secret', () => {
  const own = {
    providers: [{ name: 'mine', kind: 'openai', base_url: 'https://m.test/v1', api_key_env: 'MY_KEY' }],
  };
  const env = { TALLY_SMTP_FROM: 'a@acme.test' };
  const faults = (more: NodeJS.ProcessEnv, settings: object = {}): readonly string[] =>
    faultsOf(
      { settings, ...own },
      { ...(more['TALLY_SMTP_URL'] || more['TALLY_SMTP_URL_FILE'] ? env : {}), ...more },
    );

  it('that the reader knows is in this list', () => {
    const { settings } = checkConfig({ TALLY_CONFIG: fileOf(JSON.stringify(own)) });
    const names = settings.filter(({ secret }) => secret).map(({ name }) => name);
    // Those of further providers, and the two halves of an access key, which are only right together.
    const ofDefaults = names.filter(
      (name) => name !== 'OPENAI_API_KEY' && /_API_KEY$|^AWS_(?:ACCESS|SECRET_ACCESS)_KEY/.test(name),
    );
    expect(ofDefaults).toContain('ANTHROPIC_API_KEY');
    expect(names.toSorted()).toEqual([...SECRETS.map(([name]) => name), ...ofDefaults].toSorted());
  });

  it.each(SECRETS)(
    '%s is read from a file, which the environment or the configuration file names',
    (name, value) => {
      const path = fileOf(` ${value}\n`, 'secret');
      expect(faults({ [`${name}_FILE`]: path })).toEqual([]);
      expect(name === 'TALLY_SMTP_URL' ? [] : faults({}, { [`${name}_FILE`]: path })).toEqual([]);
    },
  );

  it.each(SECRETS)('%s is a fault in each other way, which never shows it', (name, value) => {
    const path = fileOf(value, 'secret');
    const byFile = `${name}_FILE`;
    const cases: [NodeJS.ProcessEnv, object, RegExp][] = [
      [{ [name]: value, [byFile]: path }, {}, new RegExp(`^${name} and ${byFile} are both set`)],
      [
        { [byFile]: join(folder, 'none') },
        {},
        new RegExp(`^${byFile} names \\S+, which can't be read \\(ENOENT\\)`),
      ],
      [{ [byFile]: folder }, {}, new RegExp(`^${byFile} names \\S+, which can't be read \\(EISDIR\\)`)],
      [{ [byFile]: fileOf(' \n', 'blank') }, {}, new RegExp(`^${byFile} names \\S+, which is empty`)],
      [env, { [name]: value }, new RegExp(`^${name} in \\S+ is a secret`)],
      [env, { [byFile]: 7 }, new RegExp(`^${byFile} in \\S+ is not the path of a file`)],
    ];
    for (const [given, settings, expected] of cases) {
      const found = faults(given, settings);
      expect(found.filter((fault) => expected.test(fault))).toHaveLength(1);
      expect(found.join()).not.toContain('hunter2');
    }
  });

  it('in the environment outranks its file in the configuration file', () => {
    const TALLY_CONFIG = fileOf(JSON.stringify({ settings: { TALLY_KEYRING_PASSPHRASE_FILE: '/nowhere' } }));
    expect(readConfig({ TALLY_CONFIG, TALLY_KEYRING_PASSPHRASE: 'open' }).keyring.passphrase).toBe('open');
  });

  it('is named where every user may read its file', () => {
    const path = fileOf('hunter2', 'open');
    const exposed = (mode: number) => {
      chmodSync(path, mode);
      return readConfig({ TALLY_KEYRING_PASSPHRASE_FILE: path }).exposedFiles;
    };
    expect(exposed(0o444)).toEqual([path]);
    expect(exposed(0o440)).toEqual([]);
  });

  it('of a provider reaches its catalogue', () => {
    const { compute } = readConfig({
      TALLY_CONFIG: fileOf(JSON.stringify(own)),
      MY_KEY_FILE: fileOf('hunter2\n', 'secret'),
      OPENAI_API_KEY: 'other',
    });
    expect(compute.environment).toMatchObject({ MY_KEY: 'hunter2', OPENAI_API_KEY: 'other' });
  });

  it('is not among the values that are shown', () => {
    const { settings } = checkConfig({
      TALLY_KEYRING_PASSPHRASE: 'hunter2',
      TALLY_DATABASE_URL: 'postgres://u:hunter2@db',
    });
    expect(JSON.stringify(settings)).not.toContain('hunter2');
    expect(settings.find(({ name }) => name === 'TALLY_DATABASE_URL')).toMatchObject({ given: '(secret)' });
  });
});
