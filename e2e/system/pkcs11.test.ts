import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Ended, type Env, post, serve, tally, temporaryFolder } from '../process.ts';

const LIBRARY = '/usr/lib/softhsm/libsofthsm2.so';
const PIN = '648219';
const KEY = 'pkcs11:token=tally%20token;object=receipt';
const home = temporaryFolder();
const at = (name: string): string => join(home, name);
const env: Env = {
  PATH: '/usr/bin:/bin',
  SOFTHSM2_CONF: at('softhsm2.conf'),
  TALLY_DATA_DIR: at('data'),
  TALLY_DEVNET: 'off',
  TALLY_PKCS11_MODULE: LIBRARY,
  TALLY_PKCS11_PIN_FILE: at('pin'),
  // Where an operator has installed pkcs11js, beside the service and not with it.
  NODE_PATH: at('device/node_modules'),
};

function softhsm(...args: string[]): void {
  execFileSync('softhsm2-util', args, { env, stdio: 'pipe' });
}

function pkcs11Tool(...args: string[]): void {
  execFileSync('pkcs11-tool', ['--module', LIBRARY, '--login', '--pin', PIN, ...args], {
    env,
    stdio: 'pipe',
  });
}

const keys = (args: readonly string[], more: Partial<Env> = {}): Promise<Ended> =>
  tally(['keys', ...args], { ...env, ...more } as Env);

beforeAll(async () => {
  mkdirSync(at('tokens'));
  mkdirSync(at('device'));
  writeFileSync(at('softhsm2.conf'), `directories.tokendir = ${at('tokens')}\nobjectstore.backend = file\n`);
  writeFileSync(at('pin'), `${PIN}\n`);
  writeFileSync(at('device/package.json'), '{}');
  softhsm('--init-token', '--free', '--label', 'tally token', '--so-pin', '12345678', '--pin', PIN);
  const generate = [
    '--keypairgen',
    '--key-type',
    'EC:edwards25519',
    '--usage-sign',
    '--token-label',
    'tally token',
  ];
  pkcs11Tool(...generate, '--label', 'receipt', '--id', '01');
  pkcs11Tool(...generate, '--label', 'twice', '--id', '02');
  pkcs11Tool(...generate, '--label', 'twice', '--id', '03');
  await keys(['init', '--root-out', at('root.json')]);
});

it('without pkcs11js the command says what to install', async () => {
  expect(await keys(['rotate', '--signer', KEY])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/npm install pkcs11js/),
  });
});

it('a key on the token signs receipts, many at once, and its secret is not in the keyring', async () => {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', 'pkcs11js@2.1.7'], {
    cwd: at('device'),
    stdio: 'pipe',
  });
  const { code, stdout, stderr } = await keys(['rotate', '--signer', KEY, '--json']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { key_id: keyId } = JSON.parse(stdout);
  const entry = JSON.parse(readFileSync(at('data/keyring.json'), 'utf8')).keys.at(-1);
  expect(entry).toEqual({ key_id: keyId, purpose: 'receipt', remote: KEY });

  const server = await serve(env);
  const mint = async (n: number) =>
    post(`${server.url}/v1/receipt/free`, { input: `n ${n}`, purpose: 'pkcs11' });
  // Without locks in the library, one round of 40 crashed the service in about one of four runs.
  for (let round = 0; round < 25; round += 1) {
    const minted = await Promise.all(Array.from({ length: 40 }, (_, n) => mint(40 * round + n)));
    expect(new Set(minted.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { text } of minted) expect(text).toContain(keyId);
    const verdicts = await Promise.all(
      minted.map(({ text }) => post(`${server.url}/v1/receipt/verify`, text)),
    );
    for (const { text } of verdicts) expect(JSON.parse(text)).toMatchObject({ valid: true });
  }
  expect((await server.kill('SIGTERM')).code).toBe(0);
});

it.each([
  ['a PIN that is wrong', {}, KEY, /CKR_PIN_INCORRECT/],
  ['a token that is not there', {}, 'pkcs11:token=other;object=receipt', /no PKCS#11 token other/],
  ['a key that is not there', {}, 'pkcs11:token=tally%20token;object=other', /has no Ed25519 key other/],
  ['two keys of one label', {}, 'pkcs11:token=tally%20token;object=twice', /more than one Ed25519 key twice/],
  ['no library', { TALLY_PKCS11_MODULE: '' }, KEY, /set TALLY_PKCS11_MODULE/],
])('%s is said, without the PIN', async (what, more, name, expected) => {
  writeFileSync(at('pin'), what.startsWith('a PIN') ? '000000' : PIN);
  const { code, stdout, stderr } = await keys(['rotate', '--signer', name], more);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(expected) });
  expect(stdout + stderr).not.toContain(PIN);
});

it('a service whose token is gone does not start', async () => {
  const failed = await serve({ ...env, SOFTHSM2_CONF: at('none.conf') }).then(
    () => '',
    (error: Error) => error.message,
  );
  expect(failed).toMatch(/PKCS#11/);
});
