import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, until, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

describe('on the data of a running service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve(at('data'));
  });
  afterAll(() => service.stop());

  const here = (args: readonly string[]): Promise<Ran> => tally(args, { env: service.env });
  const mint = async (text: string): Promise<Record<string, string>> => {
    const { stdout } = await here(['mint', '--text', text, '--json']);
    return JSON.parse(stdout);
  };
  const fetchVersion = async (): Promise<number> =>
    JSON.parse((await here(['trust', 'fetch', '--json'])).stdout).bundle.version;

  test('rotate and revoke are taken up within 2 s, and the bundle grows', async () => {
    const before = await mint('before');
    writeFileSync(at('before.json'), JSON.stringify(before));
    const version = await fetchVersion();
    const rotated = JSON.parse((await here(['keys', 'rotate', '--json'])).stdout);
    expect(rotated).toMatchObject({ purpose: 'receipt', bundle_published: true });
    const signer = async (): Promise<string | undefined> => {
      const response = await fetch(`${service.url}/v1/receipt/free`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"input":"x","purpose":"p"}',
      });
      return ((await response.json()) as { key_id?: string }).key_id;
    };
    await until(signer, (keyId) => keyId === rotated.key_id);
    writeFileSync(at('after.json'), JSON.stringify(await mint('after')));
    expect(await here(['verify', at('after.json')])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/fetch the bundle again/),
    });
    expect(await until(fetchVersion, (now) => now > version)).toBe(version + 1);
    for (const file of ['before.json', 'after.json'])
      expect(await here(['verify', at(file)])).toMatchObject({ code: 0 });

    const revoked = await here(['keys', 'revoke', before.key_id ?? '', '--reason', 'compromised']);
    expect(revoked).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is revoked from .* on \(compromised\)/),
    });
    expect(await until(fetchVersion, (now) => now > version + 1)).toBe(version + 2);
    expect(await here(['verify', at('before.json')])).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/The key was compromised/),
    });
    expect(await here(['verify', at('after.json')])).toMatchObject({ code: 0 });
  });

  test('approve makes a registered issuer verified, and the bundle says so', async () => {
    await tally(['keys', 'generate', '--out', at('acme.json')]);
    await here(['keys', 'register', '--handle', 'acme', '--key', at('acme.json')]);
    expect(await here(['trust', 'approve', 'did:svc:acme', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"bundle_published": true/),
    });
    await until(
      () => here(['trust', 'fetch']),
      ({ stdout }) => /did:svc:acme {2}verified/.test(stdout),
    );
  });

  test('init keeps the keyring that is there', async () => {
    const keyring = readFileSync(at('data/keyring.json'), 'utf8');
    expect(await here(['keys', 'init'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/already exists and was left unchanged/),
    });
    expect(readFileSync(at('data/keyring.json'), 'utf8')).toBe(keyring);
  });

  test('a backup under load holds every receipt that was answered before it, and opens', async () => {
    const folder = mkdtempSync(at('backup-'));
    const copy = join(folder, 'copy.db');
    const answered: string[] = [];
    const stopped = new AbortController();
    const load = async (): Promise<void> => {
      while (!stopped.signal.aborted) {
        const response = await fetch(`${service.url}/v1/receipt/emit`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"input":"x"}',
        });
        answered.push(((await response.json()) as { receipt: { id: string } }).receipt.id);
      }
    };
    const loaders = Array.from({ length: 8 }, load);
    await until(
      () => new Promise(setImmediate),
      () => answered.length > 100,
    );
    const before = [...answered];
    const done = await here(['backup', copy, '--json']);
    stopped.abort();
    await Promise.all(loaders);
    expect({ code: done.code, ...JSON.parse(done.stdout) }).toEqual({
      code: 0,
      file: copy,
      bytes: statSync(copy).size,
    });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(existsSync(`${copy}.partial`)).toBe(false);

    const data = join(folder, 'data');
    mkdirSync(data);
    copyFileSync(copy, join(data, 'tally.db'));
    copyFileSync(at('data/keyring.json'), join(data, 'keyring.json'));
    const restored = await serve(data);
    const found = async (id: string): Promise<boolean> =>
      (await fetch(`${restored.url}/v1/receipt/${id}`)).status === 200;
    const states = await Promise.all(answered.map(found));
    await restored.stop();
    expect(states.slice(0, before.length)).not.toContain(false);
    expect(answered.length).toBeGreaterThan(before.length);
  });

  test('a backup replaces nothing without --force, and never the database', async () => {
    writeFileSync(at('there.db'), 'precious');
    expect(await here(['backup', at('there.db')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/already exists.*--force/),
    });
    expect(readFileSync(at('there.db'), 'utf8')).toBe('precious');
    expect(await here(['backup', at('there.db'), '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(at('there.db')).subarray(0, 15).toString()).toBe('SQLite format 3');
    expect(await here(['backup', at('data/tally.db'), '--force'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/database in use/),
    });
  });
});

test.each([
  ['SQLite', { TALLY_DATA_DIR: at('some-data') }],
  ['PostgreSQL', { TALLY_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }],
])('a backup of %s makes no folder that is missing', async (_, env) => {
  mkdirSync(at('some-data'), { recursive: true });
  writeFileSync(at('some-data/tally.db'), '');
  expect(await tally(['backup', at('not/mounted/copy')], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`There is no folder ${at('not/mounted')} to write in.`),
  });
  expect(existsSync(at('not'))).toBe(false);
});

test('a backup of PostgreSQL replaces a folder only if that is a base backup', async () => {
  const env = { TALLY_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
  mkdirSync(at('copies/monday'), { recursive: true });
  writeFileSync(at('copies/monday/backup_label'), 'precious');
  for (const force of [[], ['--force']])
    expect(await tally(['backup', at('copies'), ...force], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no base backup'),
    });
  expect(readFileSync(at('copies/monday/backup_label'), 'utf8')).toBe('precious');
  expect(await tally(['backup', at('copies/monday')], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--force'),
  });
});

describe('with the root kept offline and a passphrase', () => {
  const env = { TALLY_DATA_DIR: at('offline'), TALLY_KEYRING_PASSPHRASE_FILE: at('passphrase') };
  const operator = (args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    tally(args, { env: { ...env, ...more } });

  beforeAll(async () => {
    writeFileSync(at('passphrase'), 'correct horse\n');
    writeFileSync(at('wrong'), 'battery staple\n');
    writeFileSync(at('blank'), '\n');
    await operator(['keys', 'init', '--root-out', at('root.json')]);
  });

  test.each([
    ['wrong', at('wrong'), 1, /passphrase of the keyring is wrong/],
    ['missing', '', 1, /The keyring is encrypted: set TALLY_KEYRING_PASSPHRASE/],
    ['in a file that is not there', at('nowhere'), 2, /can't be read \(ENOENT\)/],
    ['empty', at('blank'), 2, /is empty/],
  ])('the passphrase is %s', async (_, file, code, message) => {
    expect(await operator(['keys', 'list'], { TALLY_KEYRING_PASSPHRASE_FILE: file })).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  test('the keyring in use holds no root, and both files are the owner’s alone', async () => {
    expect(await operator(['keys', 'list'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/root kept elsewhere/),
    });
    for (const file of ['root.json', 'offline/keyring.json'])
      expect(statSync(at(file)).mode & 0o777).toBe(0o600);
  });

  test('the keyring of the root holds the root’s secret and no other', () => {
    const keyring = (file: string) => JSON.parse(readFileSync(at(file), 'utf8'));
    const purposes = (file: string) => keyring(file).keys.map((key: { purpose: string }) => key.purpose);
    expect([purposes('root.json'), 'api_key_secret' in keyring('root.json')]).toEqual([['root'], false]);
    expect(purposes('offline/keyring.json')).not.toContain('root');
    expect(keyring('offline/keyring.json').api_key_secret).toEqual(expect.any(String));
  });

  test('draft, sign, publish; an older bundle or one of another root is refused', async () => {
    const sign = async (): Promise<void> => {
      writeFileSync(at('draft.json'), (await operator(['trust', 'draft'])).stdout);
      const signed = await operator([
        'trust',
        'sign',
        at('draft.json'),
        '--root-keyring',
        at('root.json'),
        '--days',
        '7',
      ]);
      expect(signed.code).toBe(0);
      writeFileSync(at('bundle.json'), signed.stdout);
    };
    await sign();
    expect(await operator(['trust', 'publish', at('bundle.json'), '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"version": 1/),
    });
    expect(await operator(['trust', 'publish', at('bundle.json')])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/trust_rollback/),
    });
    expect(await operator(['keys', 'rotate'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/tally trust draft, sign and publish/),
    });
    await sign();
    expect(await operator(['trust', 'publish', at('bundle.json')])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Published version 2/),
    });
    const other = { TALLY_DATA_DIR: at('other') };
    const made = await operator(['keys', 'init', '--root-out', at('other-root.json'), '--json'], other);
    expect(JSON.parse(made.stdout)).toMatchObject({
      did: expect.stringMatching(/^did:svc:local-[0-9a-f]{8}$/),
      root_keyring: at('other-root.json'),
      encrypted: true,
    });
    writeFileSync(at('draft.json'), (await operator(['trust', 'draft'])).stdout);
    const { stdout } = await operator([
      'trust',
      'sign',
      at('draft.json'),
      '--root-keyring',
      at('other-root.json'),
    ]);
    writeFileSync(at('foreign.json'), stdout);
    expect(await operator(['trust', 'publish', at('foreign.json')])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/trust_root_mismatch/),
    });
    const online = await operator([
      'trust',
      'sign',
      at('draft.json'),
      '--root-keyring',
      at('offline/keyring.json'),
    ]);
    expect(online).toMatchObject({ code: 1, stderr: expect.stringMatching(/holds no root key/) });
  });

  describe('the passphrase is changed', () => {
    const withPassphrase = (keyring: string, passphrase: string | null) => ({
      TALLY_KEYRING: keyring,
      TALLY_KEYRING_PASSPHRASE_FILE: passphrase === null ? '' : at(passphrase),
    });
    const listed = (keyring: string, passphrase: string | null) =>
      operator(['keys', 'list'], withPassphrase(keyring, passphrase));

    test.each([
      ['of the service’s keyring', 'offline/keyring.json', 'service-copy.json', []],
      ['of the root alone', 'root.json', 'root-copy.json', ['--keyring', at('root-copy.json')]],
    ])('%s: nothing else changes, and the old one is good no more', async (_, from, to, options) => {
      const keyring = at(to);
      copyFileSync(at(from), keyring);
      const before = await listed(keyring, 'passphrase');
      writeFileSync(at('new'), 'new words\n');
      const env = withPassphrase(options.length > 0 ? at('offline/keyring.json') : keyring, 'passphrase');
      expect(await operator(['keys', 'passphrase', at('new'), ...options], env)).toMatchObject({
        code: 0,
        stdout: `${keyring} is encrypted with the passphrase in ${at('new')}.\n`,
      });
      expect(await listed(keyring, 'new')).toEqual(before);
      expect((await listed(keyring, 'passphrase')).stderr).toMatch(/passphrase of the keyring is wrong/);
      expect(statSync(keyring).mode & 0o777).toBe(0o600);
    });

    test('a keyring without one gets its first', async () => {
      const keyring = at('plain/keyring.json');
      const plain = { ...withPassphrase(keyring, null), TALLY_DATA_DIR: at('plain') };
      await operator(['keys', 'init'], plain);
      expect((await operator(['keys', 'passphrase', at('passphrase')], plain)).code).toBe(0);
      expect((await listed(keyring, null)).stderr).toMatch(/The keyring is encrypted/);
      expect((await listed(keyring, 'passphrase')).code).toBe(0);
    });

    test.each([
      ['of the service’s keyring', 'offline/keyring.json', 'service-none.json', []],
      ['of the root alone', 'root.json', 'root-none.json', ['--keyring', at('root-none.json')]],
    ])(
      '--none takes it away, %s: the file stays private, and nothing else changes',
      async (_, from, to, options) => {
        const keyring = at(to);
        copyFileSync(at(from), keyring);
        const before = await listed(keyring, 'passphrase');
        const env = withPassphrase(options.length > 0 ? at('offline/keyring.json') : keyring, 'passphrase');
        expect(await operator(['keys', 'passphrase', '--none', ...options], env)).toMatchObject({
          code: 0,
          stdout: `${keyring} is not encrypted any more.\n`,
          stderr: expect.stringContaining('Take the passphrase out of the service’s configuration'),
        });
        expect(await listed(keyring, null)).toEqual(before);
        expect(statSync(keyring).mode & 0o777).toBe(0o600);
        const again = await operator(['keys', 'passphrase', '--none', '--json', ...options], env);
        expect(JSON.parse(again.stdout)).toEqual({ keyring, encrypted: false });
      },
    );

    test.each([
      ['the present one is wrong', 'wrong', ['--none'], 1, /passphrase of the keyring is wrong/],
      ['the present one is not given', null, ['--none'], 1, /The keyring is encrypted/],
      ['a new one is given too', 'passphrase', ['--none', at('passphrase')], 2, /Give either the file/],
      ['neither --none nor a new one is given', 'passphrase', [], 2, /Give either the file/],
    ])('it stays where %s', async (_, present, args, code, message) => {
      const keyring = at('kept-copy.json');
      copyFileSync(at('offline/keyring.json'), keyring);
      const before = readFileSync(keyring);
      expect(await operator(['keys', 'passphrase', ...args], withPassphrase(keyring, present))).toMatchObject(
        {
          code,
          stdout: '',
          stderr: expect.stringMatching(message),
        },
      );
      expect(readFileSync(keyring)).toEqual(before);
    });

    test.each([
      ['the present one is wrong', 'wrong', 'new', 1, /passphrase of the keyring is wrong/],
      ['the present one is not given', null, 'new', 1, /The keyring is encrypted/],
      ['the new one is empty', 'passphrase', 'blank', 2, /is empty. Write the new passphrase into it/],
      ['there is no file with the new one', 'passphrase', 'nowhere', 2, /There is no file/],
      [
        'the new one would be the keyring',
        'passphrase',
        'refused-link.json',
        2,
        /is the keyring. Give the file/,
      ],
    ])('not where %s', async (_, present, next, code, message) => {
      const keyring = at('refused-copy.json');
      copyFileSync(at('offline/keyring.json'), keyring);
      rmSync(at('refused-link.json'), { force: true });
      symlinkSync(keyring, at('refused-link.json'));
      const before = readFileSync(keyring);
      expect(
        await operator(['keys', 'passphrase', at(next)], withPassphrase(keyring, present)),
      ).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
      expect(readFileSync(keyring)).toEqual(before);
    });
  });
});
