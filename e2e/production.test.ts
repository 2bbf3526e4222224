import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkTrustBundle, type JsonObject } from '@tallystick/core';
import { expect, it, vi } from 'vitest';
import { type Env, post, serve, tally, temporaryFolder } from './process.ts';

async function run(args: readonly string[], env: Env): Promise<string> {
  const { code, stdout, stderr } = await tally(args, env);
  expect(code, stderr).toBe(0);
  return stdout;
}

const json = async (url: string): Promise<JsonObject> => (await fetch(url)).json() as Promise<JsonObject>;
const status = async (url: string): Promise<number> => (await fetch(url)).status;
const until = (holds: () => Promise<void>): Promise<void> =>
  vi.waitFor(holds, { timeout: 60_000, interval: 50 });

it('a production service: keys with an offline root, trust by hand, a rotation, a revocation', async () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  mkdirSync(file('offline'));
  writeFileSync(file('passphrase'), 'a long passphrase\n', { mode: 0o600 });
  const env: Env = {
    NODE_ENV: 'production',
    TALLY_DATA_DIR: file('data'),
    TALLY_HANDLE: 'acme',
    TALLY_KEYRING: file('keyring.json'),
    TALLY_KEYRING_PASSPHRASE_FILE: file('passphrase'),
    TALLY_RECEIPTS_URL: 'https://receipts.example.com',
    TALLY_API_URL: 'https://api.example.com',
    TALLY_SITE_URL: 'https://example.com',
    TALLY_CHAIN_ID: '8453',
    TALLY_CHAIN_NETWORK: 'base',
    // Nobody answers there: the log waits, and all else serves.
    TALLY_CHAIN_RPC_URL: 'http://127.0.0.1:9',
    TALLY_POSTING_KEY_FILE: file('posting.key'),
    TALLY_FREE_MINT_PER_DAY: '2',
    TALLY_HOME: file('home'),
  };
  const root = file('offline/root.json');
  const noKeys = await tally(['serve'], { ...env, PORT: '0' });
  expect(noKeys.code).not.toBe(0);
  expect(noKeys.stderr).toContain('tally keys init');

  const made = await run(['keys', 'init', '--root-out', root], env);
  const fingerprint = /sha256:[0-9a-f]{64}/.exec(made)?.[0] ?? '';
  for (const path of [root, file('keyring.json')]) {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain('"kdf":{');
  }
  expect((await tally(['keys', 'init', '--root-out', root], env)).code).not.toBe(0);

  const noAccount = await tally(['serve'], { ...env, PORT: '0' });
  expect(noAccount.code).not.toBe(0);
  expect(noAccount.stderr).toContain(file('posting.key'));
  writeFileSync(file('posting.key'), randomBytes(32).toString('hex'), { mode: 0o600 });

  const service = await serve({ ...env, PORT: '0' });
  const { url } = service;
  expect(await status(`${url}/.well-known/trust.json`)).toBe(503);
  expect(await status(`${url}/readyz`)).toBe(503);

  const trustJson = `${url}/.well-known/trust.json`;
  const publish = async (version: number): Promise<void> => {
    writeFileSync(file('draft.json'), await run(['trust', 'draft'], env));
    writeFileSync(
      file('bundle.json'),
      await run(['trust', 'sign', file('draft.json'), '--root-keyring', root], env),
    );
    await run(['trust', 'publish', file('bundle.json')], env);
    await until(async () => expect((await json(trustJson)).version).toBe(version));
  };
  await publish(1);
  expect(await status(`${url}/readyz`)).toBe(200);
  const first = await checkTrustBundle(await json(trustJson), { now: Date.now(), root: fingerprint });

  const minted = await Promise.all(
    [1, 2, 3].map(() => post(`${url}/v1/receipt/free`, { input: 'x', purpose: 'p' })),
  );
  expect(minted.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
  const emit = async () =>
    JSON.parse((await post(`${url}/v1/receipt/emit`, { input: 'x' })).text) as JsonObject;
  const before = await emit();
  expect(before).toMatchObject({
    issuer_did: 'did:svc:acme',
    settlement_reference: { chain_id: 8453 },
    receipt: { verify_uri: 'https://receipts.example.com/verify' },
  });

  const rotated = (await run(['keys', 'rotate'], env)).trim();
  await until(async () => expect((await emit()).key_id).toBe(rotated));
  await publish(2);
  await checkTrustBundle(await json(trustJson), { now: Date.now(), pin: first.pin });

  writeFileSync(file('before.json'), JSON.stringify(before));
  await run(['trust', 'fetch', url, '--root', fingerprint], env);
  await run(['verify', file('before.json')], env);
  await run(['keys', 'revoke', before.key_id as string, '--reason', 'compromised'], env);
  await publish(3);
  await run(['trust', 'fetch', url], env);
  expect((await tally(['verify', file('before.json')], env)).code).toBe(3);
  expect((await service.kill('SIGTERM')).code).toBe(0);
});
