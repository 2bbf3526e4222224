import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  applyStatement,
  canonicalize,
  createSigner,
  generateSecretKey,
  type IssuerRecord,
  rootFingerprint,
  type Signer,
  signStatement,
  signTrustBundle,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { serve, workspace } from './tally.ts';

const { at, home, tally, remove } = workspace();
const DAY = 86_400_000;
let server: Server;
let url: string;
let root: Signer;
let other: Signer;
/** What the stand-in for a service answers at any path that ends in trust.json. */
let answer: { status: number; body: string; headers?: Record<string, string> };

beforeAll(async () => {
  server = createServer((request, response) => {
    const known = request.url?.endsWith('/.well-known/trust.json') ?? false;
    response.writeHead(known ? answer.status : 404, answer.headers).end(known ? answer.body : 'no');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  root = await createSigner(generateSecretKey());
  other = await createSigner(generateSecretKey());
});
afterAll(() => {
  server.close();
  remove();
});

async function bundle(
  version: number,
  { by = root, expiresAt = Date.now() + DAY, issuers = [] as IssuerRecord[] } = {},
): Promise<string> {
  return signTrustBundle(
    { version, issuedAt: Date.now() - DAY, expiresAt, issuers, log: null, chain: null },
    by,
  );
}

const fingerprint = (signer: Signer): string => rootFingerprint(signer.publicKey);
const saved = async (): Promise<{ url: string; file: string; root: string; bundle: { version: number } }[]> =>
  JSON.parse((await tally(['trust', 'show', '--json'])).stdout).saved;

describe('a registered issuer that the bundle does not list', () => {
  const did = 'did:svc:acme';
  const now = Date.now();
  let env: Record<string, string>;
  beforeAll(async () => {
    env = { TALLY_HOME: at('issuer-home') };
    answer = { status: 200, body: await bundle(1) };
    await tally(['trust', 'fetch', url], { env });
    const statement = { audience: 'did:svc:local', did, sequence: 1, action: 'register', at: now } as const;
    const record = await applyStatement(null, await signStatement({ ...statement, keyId: root.keyId }, root));
    writeFileSync(at('acme.json'), JSON.stringify(record));
    writeFileSync(at('verified.json'), JSON.stringify({ ...record, status: 'verified' }));
    writeFileSync(at('forged.json'), JSON.stringify({ ...record, did: 'did:svc:other' }));
    await Promise.all([issue('own.json', root), issue('foreign.json', other)]);
  });

  async function issue(file: string, by: Signer): Promise<void> {
    const body = {
      type: 'svc-issue-v1',
      receipt_id: `r_issue_${Math.floor(now / 1000)}_0123456789ab`,
      symbol: 'ACME',
      units: 1,
      amount_usd: 2.5,
      recipient: 'did:svc:buyer',
      issued_at: new Date(now).toISOString(),
      issuer_did: did,
      issuer_pubkey: toBase64url(by.publicKey),
      issuer_verified: false,
    };
    const sig_b64u = toBase64url(await by.sign(utf8(canonicalize(body))));
    writeFileSync(at(file), JSON.stringify({ ...body, sig_b64u }));
  }

  test.each<[string, string, string | null, number, string]>([
    ['its receipt without its record', 'own.json', null, 3, 'unknown'],
    ['its receipt', 'own.json', 'acme.json', 3, 'registered'],
    ['its receipt with a record that calls itself verified', 'own.json', 'verified.json', 3, 'registered'],
    ['another’s receipt without its record', 'foreign.json', null, 3, 'unknown'],
    ['another’s receipt in its name', 'foreign.json', 'acme.json', 1, 'contradicted'],
  ])('%s', async (_, receipt, record, code, status) => {
    const given = record === null ? [] : ['--issuer', at(record)];
    const said = await tally(['verify', at(receipt), ...given, '--json'], { env });
    expect(said.code, said.stderr).toBe(code);
    expect(JSON.parse(said.stdout).issuer).toMatchObject({ status, trusted: false });
  });

  test('a record that does not follow from its history is refused', async () => {
    const said = await tally(['verify', at('own.json'), '--issuer', at('forged.json')], { env });
    expect(said).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('issuer_proof_invalid'),
    });
  });
});

describe('trust fetch', () => {
  let kept: string;

  beforeEach(async () => {
    await tally(['trust', 'forget', url]);
    answer = { status: 200, body: await bundle(2) };
    const { stdout } = await tally(['trust', 'fetch', url, '--json']);
    kept = readFileSync(JSON.parse(stdout).file, 'utf8');
  });

  const unchanged = async (): Promise<boolean> => {
    const [one] = await saved();
    return one !== undefined && readFileSync(one.file, 'utf8') === kept;
  };

  test.each<[string, () => Promise<string>, string, RegExp]>([
    ['an older bundle', () => bundle(1), 'trust_rollback', /version 1, but version 2 was seen before/],
    [
      'another bundle of the same version',
      () => bundle(2, { expiresAt: Date.now() + 2 * DAY }),
      'trust_rollback',
      /contradicts the one of version/,
    ],
    ['an expired bundle', () => bundle(3, { expiresAt: Date.now() - 1000 }), 'trust_expired', /expired at/],
    [
      'another root',
      () => bundle(3, { by: other }),
      'trust_root_mismatch',
      /tally trust fetch --replace http/,
    ],
    [
      'a changed bundle',
      async () => (await bundle(3)).replace('"version":3', '"version":4'),
      'trust_signature_invalid',
      /changed/,
    ],
    ['something else', async () => '{}', 'trust_invalid', /svc-trust-v1/],
    ['no JSON', async () => '<html>', 'json_syntax', /The answer of http/],
  ])('refuses %s and keeps what was saved', async (_, body, code, message) => {
    answer = { status: 200, body: await body() };
    const { code: exit, stdout, stderr } = await tally(['trust', 'fetch', url]);
    expect({ exit, stdout, stderr }).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
    expect(stderr).toContain(`(${code})`);
    expect(await unchanged()).toBe(true);
  });

  test.each<[string, typeof answer, RegExp]>([
    [
      'a service without a bundle',
      {
        status: 503,
        body: '{"code":"trust_unavailable","detail":"None yet."}',
        headers: { 'retry-after': '5' },
      },
      /None yet\. Try again in 5 s/,
    ],
    [
      'something that is no service',
      { status: 404, body: 'no' },
      /answered 404 and does not look like Tallystick/,
    ],
    [
      'a redirect',
      { status: 301, body: '', headers: { location: 'https://elsewhere.example/' } },
      /redirects to https:\/\/elsewhere\.example\//,
    ],
  ])('tells of %s', async (_, reply, message) => {
    answer = reply;
    expect(await tally(['trust', 'fetch', url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    });
    expect(await unchanged()).toBe(true);
  });

  test('pins the root at the first fetch and says where the bundle is kept', async () => {
    const [one] = await saved();
    expect({ url: one?.url, root: one?.root }).toEqual({ url, root: fingerprint(root) });
    const again = await tally(['trust', 'fetch', url]);
    expect(again).toMatchObject({ code: 0, stderr: `Saved to ${one?.file}.\n` });
  });

  test('takes a newer bundle of the same root', async () => {
    answer = { status: 200, body: await bundle(3) };
    expect(await tally(['trust', 'fetch', url])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/version {2}3/),
    });
    expect((await saved())[0]?.bundle.version).toBe(3);
  });

  test('--root counts at the first fetch and beside a pin', async () => {
    const wrong = ['trust', 'fetch', url, '--root', fingerprint(other)];
    expect(await tally(wrong)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the pinned root is .*trust_root_mismatch/),
    });
    expect(await tally(['trust', 'audit', url, '--root', fingerprint(other)])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the pinned root is .*trust_root_mismatch/),
    });
    expect(await unchanged()).toBe(true);
    await tally(['trust', 'forget', url]);
    expect(await tally(wrong)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Nothing was saved\..*trust_root_mismatch/),
    });
    expect(await saved()).toEqual([]);
    expect(await tally(['trust', 'fetch', url, '--root', fingerprint(root)])).toMatchObject({ code: 0 });
  });

  test('keeps services apart by their whole URL, and leaves no temporary files', async () => {
    answer = { status: 200, body: await bundle(1, { by: other }) };
    expect(await tally(['trust', 'fetch', `${url}/second/`])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/First fetch/),
    });
    const both = (await saved()).map((one) => [one.url, one.root]);
    expect(both).toEqual([
      [url, fingerprint(root)],
      [`${url}/second`, fingerprint(other)],
    ]);
    const files = readdirSync(`${home}/trust`);
    expect(files).toHaveLength(2);
    for (const file of files) expect(statSync(`${home}/trust/${file}`).mode & 0o777).toBe(0o600);
    await tally(['trust', 'forget', `${url}/second`]);
  });

  test('a saved file that was damaged, or stands for another service, is not used', async () => {
    const [one] = await saved();
    writeFileSync(one?.file ?? '', '{"url":');
    expect(await tally(['trust', 'fetch', url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not JSON/),
    });
    writeFileSync(one?.file ?? '', kept.replace(url, 'http://127.0.0.1:1'));
    expect(await tally(['trust', 'fetch', url])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/was damaged\. Remove it/),
    });
    const { bundle, ...rest } = JSON.parse(kept) as { bundle: object };
    for (const other of [{}, { ...bundle, version: 1_000 }]) {
      writeFileSync(one?.file ?? '', JSON.stringify({ ...rest, bundle: other }));
      expect(await tally(['trust', 'fetch', url])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/was damaged\. Remove it/),
      });
    }
    expect(await tally(['trust', 'show'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/was damaged/),
    });
    expect(await tally(['trust', 'forget', url])).toMatchObject({ code: 0 });
    expect(existsSync(one?.file ?? '')).toBe(false);
  });
});

test.each<[string, (pin: object) => unknown, RegExp]>([
  ['without its root', (pin) => ({ ...pin, root: undefined }), /pin that was kept is damaged: pin\.root/],
  [
    'whose version is text',
    (pin) => ({ ...pin, version: '2' }),
    /pin that was kept is damaged: pin\.version/,
  ],
  ['that is null', () => null, /pin that was kept is damaged/],
  [
    'of another bundle',
    (pin) => ({ ...pin, version: 1, bundle_sha256: '00'.repeat(32) }),
    /not the one that the pin beside it names/,
  ],
])('a bundle in a file is neither judged by nor shown beside a pin %s', async (_, damage, message) => {
  answer = { status: 200, body: await bundle(2) };
  const env = { TALLY_HOME: at('damaged-pin') };
  await tally(['trust', 'forget', url], { env });
  const { file } = JSON.parse((await tally(['trust', 'fetch', url, '--json'], { env })).stdout);
  const saved = JSON.parse(readFileSync(file, 'utf8')) as { pin: object };
  writeFileSync(at('pinned.json'), JSON.stringify({ ...saved, pin: damage(saved.pin) }));
  writeFileSync(at('any.json'), '{}');
  const said = await tally(['verify', at('any.json'), '--trust', at('pinned.json')], { env });
  expect(said).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  expect(said.stderr).toContain('trust_invalid');
  const shown = await tally(['trust', 'show', at('pinned.json')], { env });
  expect(shown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  expect(shown.stderr).toContain('pinned.json');
});

describe('a newer bundle that takes back a revocation', () => {
  const env = { TALLY_HOME: at('taken-back') };
  const taken = /revocation of the key did:key:\S+ of did:svc:acme, at 2026-01-01T00:00:00Z, was taken back/;

  /** The bundle in which the issuer's key was stolen, or was not. */
  function bundleWith(version: number, isRevoked: boolean): Promise<string> {
    const revoked = { at: '2026-01-01T00:00:00Z', reason: 'compromised' } as const;
    const key = {
      key_id: other.keyId,
      public_key: toBase64url(other.publicKey),
      purpose: 'receipt',
      state: isRevoked ? 'revoked' : 'active',
      valid_from: '2025-01-01T00:00:00Z',
      valid_until: null,
      revoked: isRevoked ? revoked : null,
    } as const;
    return bundle(version, { issuers: [{ did: 'did:svc:acme', status: 'verified', keys: [key] }] });
  }

  beforeEach(async () => {
    await tally(['trust', 'forget', url], { env });
    answer = { status: 200, body: await bundleWith(2, true) };
    await tally(['trust', 'fetch', url], { env });
    answer = { status: 200, body: await bundleWith(9, false) };
  });

  test('is named by trust fetch, though the service serves none between', async () => {
    const said = await tally(['trust', 'fetch', url], { env });
    expect(said).toMatchObject({ code: 0, stderr: expect.stringMatching(taken) });
  });

  test('is named by verify if both are saved', async () => {
    await tally(['trust', 'fetch', `${url}/second`], { env });
    writeFileSync(at('any.json'), '{}');
    const said = await tally(['verify', at('any.json')], { env });
    await tally(['trust', 'forget', `${url}/second`], { env });
    expect(said.stderr).toMatch(taken);
    expect(said.stderr).toContain(`The one of ${url}/second is newer.`);
  });
});

describe('a service that numbers its bundles without end', () => {
  const env = { TALLY_HOME: at('endless') };
  let endless: Server;
  let endlessUrl: string;
  let asked: number[] = [];
  let newest = 2;
  const bundles = new Map<number, Promise<string>>();
  beforeAll(async () => {
    endless = createServer((request, response) => {
      const [, version] = /trust\/(\d+)\.json$/.exec(request.url ?? '') ?? [];
      if (version !== undefined) asked.push(Number(version));
      const number = Number(version ?? newest);
      const made = bundles.get(number) ?? bundle(number);
      bundles.set(number, made);
      void made.then((body) => response.end(body));
    });
    endless.listen(0, '127.0.0.1');
    await once(endless, 'listening');
    endlessUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
    return () => endless.close();
  });

  test('is followed for 1,000 versions by trust fetch', async () => {
    await tally(['trust', 'fetch', endlessUrl], { env });
    newest = 2 ** 52;
    const said = await tally(['trust', 'fetch', endlessUrl], { env });
    expect(said).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Nothing shows that the bundle follows version 2/),
    });
    expect(asked).toHaveLength(1_000);
  });

  test('is followed by trust audit for as many as it is told, which says how to go on', async () => {
    asked = [];
    const said = await tally(['trust', 'audit', endlessUrl, '--most', '3'], { env });
    expect(said).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /ended at version 4503599627370493, after the 3 .*tally trust audit --most/,
      ),
    });
    expect(asked).toHaveLength(3);
    expect(await tally(['trust', 'audit', endlessUrl, '--most', '0'], { env })).toMatchObject({ code: 2 });
  });
});

test('an expired bundle can still be shown', async () => {
  writeFileSync(at('old.json'), await bundle(1, { expiresAt: Date.now() - 1000 }));
  expect(await tally(['trust', 'show', at('old.json')])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/expired /),
  });
});

test('a bundle is shown with its history, the times of its keys, and the hash of the one before', async () => {
  const key_id = root.keyId;
  const public_key = toBase64url(root.publicKey);
  const [start, change] = ['2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z'];
  const revoked = { at: change, reason: 'superseded' } as const;
  const next = await createSigner(generateSecretKey());
  const keys = [
    { key_id, public_key, state: 'revoked', valid_from: start, valid_until: change, revoked },
    {
      key_id: next.keyId,
      public_key: toBase64url(next.publicKey),
      state: 'active',
      valid_from: change,
      valid_until: null,
      revoked: null,
    },
  ] as const;
  const account = { network: 'base', chain_id: 8453, address: `0x${'22'.repeat(20)}` };
  const body = await signTrustBundle(
    {
      version: 7,
      issuedAt: Date.now(),
      expiresAt: Date.now() + DAY,
      issuers: [
        {
          did: 'did:svc:acme',
          status: 'verified',
          keys: keys.map((key) => ({ purpose: 'receipt', ...key })),
        },
      ],
      log: { origin: 'second.example/log', key_id, public_key },
      chain: account,
      history: {
        logs: [
          {
            origin: 'first.example/log',
            key_id,
            public_key,
            last_size: 12,
            valid_from: null,
            valid_until: change,
          },
        ],
        chains: [{ ...account, origin: 'first.example/log', valid_from: start, valid_until: change }],
      },
      previous_sha256: 'ab'.repeat(32),
    },
    root,
  );
  writeFileSync(at('history.json'), body);
  const { stdout } = await tally(['trust', 'show', at('history.json')]);
  expect(stdout.split('\n').slice(2)).toEqual([
    `before   version 6, previous_sha256 ${'ab'.repeat(32)}`,
    `log      second.example/log  ${key_id}`,
    `           earlier  first.example/log  ${key_id}  up to 12 leaves, until ${change}`,
    `account  ${account.address} on base (chain id 8453)`,
    `           earlier  ${account.address} on base (chain id 8453) for first.example/log  from ${start} until ${change}`,
    'issuer   did:svc:acme  verified',
    `           receipt    revoked  ${key_id}  from ${start} until ${change}, revoked at ${change} (superseded)`,
    `           receipt    active   ${next.keyId}  from ${change}`,
    '',
  ]);
  const shown = JSON.parse((await tally(['trust', 'show', at('history.json'), '--json'])).stdout);
  expect(shown).toEqual({ root: fingerprint(root), bundle: JSON.parse(body) });
});

describe('two services that use the same handle', () => {
  test('a receipt is trusted only once the user says which of them counts', async () => {
    const names = ['one', 'two'];
    const services = await Promise.all(
      names.map((name) => serve(at(name), { env: { TALLY_HANDLE: 'local' } })),
    );
    const env = { TALLY_HOME: at('two-services') };
    const [first, second] = services.map((service) => service.url);
    for (const [index, service] of services.entries()) {
      await tally(['mint', '--text', 'x', '--url', service.url, '--out', at(`${index}.json`)]);
      await tally(['trust', 'fetch', service.url], { env });
    }
    await Promise.all(services.map((service) => service.stop()));
    const disputed = await tally(['verify', at('0.json')], { env });
    expect(disputed).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/The bundles disagree on did:svc:local.*--trust/),
    });
    expect(disputed.stdout).toMatch(new RegExp(`: (?:${first}, ${second}|${second}, ${first})\\.`));
    expect(await tally(['verify', at('0.json'), '--trust', first ?? ''], { env })).toMatchObject({ code: 0 });
    expect(await tally(['verify', at('0.json'), '--trust', second ?? ''], { env })).toMatchObject({
      code: 1,
    });
  });
});

describe('servers in development', () => {
  const DEVELOPMENT = /^did:svc:local-[0-9a-f]{8}$/;
  const issuerOf = (file: string): string => JSON.parse(readFileSync(at(file), 'utf8')).issuer_did;
  const mintAt = (url: string, file: string) =>
    tally(['mint', '--text', 'x', '--url', url, '--out', at(file)]);

  test('have names of their own, after their roots: two of them contradict nothing', async () => {
    const services = await Promise.all(['dev-one', 'dev-two'].map((name) => serve(at(name))));
    const env = { TALLY_HOME: at('two-developments') };
    for (const [index, { url: from }] of services.entries()) {
      await mintAt(from, `dev-${index}.json`);
      await tally(['trust', 'fetch', from], { env });
    }
    await Promise.all(services.map((service) => service.stop()));
    const { saved: bundles } = JSON.parse((await tally(['trust', 'show', '--json'], { env })).stdout);
    const derived = bundles.map(({ root: own }: { root: string }) => `did:svc:local-${own.slice(7, 15)}`);
    expect([issuerOf('dev-0.json'), issuerOf('dev-1.json')].sort()).toEqual(derived.sort());
    expect(new Set(derived).size).toBe(2);
    for (const index of [0, 1]) {
      expect(issuerOf(`dev-${index}.json`)).toMatch(DEVELOPMENT);
      expect(await tally(['verify', at(`dev-${index}.json`)], { env })).toMatchObject({
        code: 0,
        stderr: '',
      });
    }
  });

  test('that have a data directory from before are did:svc:local still', async () => {
    const before = await serve(at('old'), { env: { TALLY_HANDLE: 'local' } });
    await before.stop();
    const after = await serve(at('old'));
    await mintAt(after.url, 'old-name.json');
    await after.stop();
    expect(issuerOf('old-name.json')).toBe('did:svc:local');
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['', {}, /does not list did:svc:local-[0-9a-f]{8}\./],
    ['under the name of before', { TALLY_HANDLE: 'local' }, /under which did:svc:local has other keys\./],
  ])('set up anew are told of, with the one command that cures it %s', async (name, handle, what) => {
    const env = { TALLY_HOME: at(`anew-home${name}`) };
    const first = await serve(at(`anew-1${name}`), { env: handle });
    await tally(['trust', 'fetch', first.url], { env });
    const { root: old } = JSON.parse((await tally(['trust', 'show', '--json'], { env })).stdout).saved[0];
    await first.stop();
    const port = new URL(first.url).port;
    const second = await serve(at(`anew-2${name}`), { env: handle, port });
    await mintAt(second.url, 'anew.json');
    const verified = await tally(['verify', at('anew.json')], { env: { ...env, TALLY_URL: second.url } });
    expect(verified.stderr).toMatch(what);
    expect(verified.stderr).toContain(`The saved bundle of ${first.url} has the root ${old}`);
    expect(verified.code).not.toBe(0);
    const refused = await tally(['trust', 'fetch', second.url], { env });
    const [cure = ''] = /tally trust fetch --replace \S+/.exec(verified.stderr) ?? [];
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(cure) });
    expect(await tally(cure.split(' ').slice(1), { env })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/First fetch/),
    });
    await second.stop();
    expect(await tally(['verify', at('anew.json')], { env })).toMatchObject({ code: 0, stderr: '' });
  });
});
