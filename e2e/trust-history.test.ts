import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createPostingKey, readPostingKey } from '@tallystick/chain';
import {
  bundleHash,
  fromBase64url,
  type JsonObject,
  rootFingerprint,
  sha256Hex,
  signCheckpoint,
  signTrustBundle,
  type TrustBundleFacts,
  utf8,
} from '@tallystick/core';
import { readKeyring, signerFor } from '@tallystick/issuers';
import { beforeAll, describe, expect, it } from 'vitest';
import { openTestChain } from '../packages/server/test/anchoring.ts';
import {
  commandLine,
  type Evidence,
  pythonSdk,
  typescriptSdk,
  type Verifier,
  webPage,
} from './anchor-verifiers.ts';
import { createKey, getJson, until } from './log-client.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';
import { pythonMissing } from './python.ts';

type Anchored = Pick<Evidence, 'receipt' | 'anchor'> & { readonly txHash: string };

const folder = temporaryFolder();
const file = (name: string): string => join(folder, name);
const bundles = [1, 2, 3].map((version) => file(`trust-${version}.json`));

let chain: PostingChain;
let served: Served;
let env: Env;
/** A receipt of each time: of the first account, of the second, and of the log that came after. */
let receipts: Anchored[];
let today: string;

async function ran(args: readonly string[], with_: Env = env): Promise<string> {
  const { code, stdout, stderr } = await tally(args, { TALLY_HOME: file('home'), ...with_ });
  expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}

/** A new posting key in place of the one before, with money for gas. */
async function newAccount(name: string): Promise<Env> {
  createPostingKey(file(name));
  const { address } = openTestChain({
    rpcUrl: chain.anvil.rpcUrl,
    secretKey: readPostingKey(file(name)),
    finality: { kind: 'confirmations', count: 1 },
  });
  await chain.anvil.rpc('anvil_setBalance', address, '0xde0b6b3a7640000');
  return { TALLY_POSTING_KEY_FILE: file(name) };
}

async function anchored(input: string): Promise<Anchored> {
  const key = await createKey('pro', env);
  const emitted = await post(`${served.url}/v1/receipt/emit`, { input, anchor: true }, key);
  const { receipt } = JSON.parse(emitted.text);
  const { anchor } = await until(
    () => getJson(`${served.url}/v1/receipt/${receipt.id}`),
    (read) => 'anchor' in read,
  );
  return {
    receipt: emitted.text,
    anchor: JSON.stringify(anchor),
    txHash: (anchor as { tx_hash: string }).tx_hash,
  };
}

/** Replaces the posting account, then the log: with the same keyring, in a new database. */
beforeAll(async () => {
  chain = await startPostingChain(folder);
  env = {
    ...chain.env,
    TALLY_DATA_DIR: file('data'),
    TALLY_KEYRING: file('keyring.json'),
    TALLY_LOG_ORIGIN: 'first.example/log',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
  };
  const again = async (): Promise<void> => {
    served = await serve(env);
    env = { ...env, TALLY_URL: served.url };
  };
  await again();
  const first = await anchored('of the first account');
  await ran(['trust', 'fetch', '--out', bundles[0] ?? '']);
  await served.kill('SIGTERM');

  env = { ...env, ...(await newAccount('second.key')) };
  await again();
  const second = await anchored('of the second account');
  await ran(['trust', 'fetch', served.url, '--out', bundles[1] ?? '']);
  writeFileSync(file('last.note'), await (await fetch(`${served.url}/checkpoint`)).text());
  await served.kill('SIGTERM');

  env = {
    ...env,
    ...(await newAccount('third.key')),
    TALLY_DATA_DIR: file('second-data'),
    TALLY_LOG_ORIGIN: 'second.example/log',
  };
  await ran(['trust', 'publish', ...bundles.slice(0, 2), '--last-checkpoint', file('last.note')]);
  await again();
  receipts = [first, second, await anchored('of the second log')];
  today = await (await fetch(`${served.url}/.well-known/trust.json`)).text();
  writeFileSync(bundles[2] ?? '', today);
});

describe('a bundle after its posting account and then its log were replaced', () => {
  it('has both in its history, with their times, and names the bundle before', () => {
    const bundle = JSON.parse(today);
    const accounts = bundle.history.chains.map(({ origin }: JsonObject) => origin);
    expect(accounts).toEqual(['first.example/log', 'first.example/log']);
    const [{ origin, last_size }] = bundle.history.logs;
    expect({ origin, last_size }).toEqual({
      origin: 'first.example/log',
      last_size: Number(readFileSync(file('last.note'), 'utf8').split('\n')[1]),
    });
    expect(bundle).toMatchObject({ version: 3, previous_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  const verifiers: [string, Verifier, string | null][] = [
    ['the command line', commandLine, null],
    ['the page', webPage, null],
    ['the TypeScript SDK', typescriptSdk, null],
    [`the Python SDK${pythonMissing === null ? '' : ` (${pythonMissing})`}`, pythonSdk, pythonMissing],
  ];
  describe.each(verifiers)('%s', (_, verify, missing) => {
    it.skipIf(missing !== null)('verifies the anchors of all three by the bundle of today', async () => {
      for (const { txHash, ...one } of receipts) {
        const asked = { rpcUrl: chain.anvil.rpcUrl, transaction: await chain.transaction(txHash) };
        const { valid, issuer, checks } = await verify({ ...one, bundle: today, chain: asked });
        expect({ valid, trusted: issuer.trusted }).toEqual({ valid: true, trusted: true });
        const found = new Map(checks.map(({ name, ok }) => [name, ok]));
        expect(found.get('anchor_checkpoint')).toBe(true);
        expect(found.get('anchor_transaction')).toBe(verify === webPage ? null : true);
      }
    });
  });
});

it('tally knows the earlier log by the bundle of today: it keeps its heads, and trusts no tree that came later', async () => {
  const [first] = receipts;
  writeFileSync(file('first.json'), first?.receipt ?? '');
  writeFileSync(file('first.anchor.json'), first?.anchor ?? '');
  const home = { TALLY_HOME: file('heads-home') };
  const trust = ['--trust', bundles[2] ?? ''];
  await ran(['verify', file('first.json'), '--anchor', file('first.anchor.json'), ...trust], home);
  const [folder = ''] = readdirSync(file('heads-home/heads'));
  const [name = ''] = readdirSync(file(`heads-home/heads/${folder}`));
  const note = readFileSync(file(`heads-home/heads/${folder}/${name}`), 'utf8');
  expect(note).toMatch(/^first\.example\/log\n/);

  // As the service of the earlier log serves it, if it still does.
  const served = { note: readFileSync(file('last.note'), 'utf8') };
  const service = createServer((_, response) => response.end(served.note));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const ask = ['log', 'checkpoint', '--url', url, ...trust];
  expect(await ran(ask, home)).toContain('first.example/log');
  const key = signerFor(await readKeyring(file('keyring.json'), null), 'log');
  const later = { origin: 'first.example/log', size: 1_000, root: new Uint8Array(32) };
  served.note = await signCheckpoint(later, key);
  const refused = await tally(ask, home);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has ended.*and this one has 1000/),
  });
  service.close();
});

describe('tally trust audit', () => {
  const audit = async (args: readonly string[], home: string) => {
    const { code, stdout } = await tally(['trust', 'audit', served.url, '--json', ...args], {
      TALLY_HOME: file(home),
    });
    return { code, report: JSON.parse(stdout) };
  };

  it('walks from the newest to the first, and needs nothing before', async () => {
    const { code, report } = await audit([], 'nowhere');
    expect(report).toMatchObject({
      newest: { version: 3 },
      oldest: 1,
      complete: true,
      faults: [],
      kept: null,
    });
    expect(code).toBe(0);
  });

  it('compares with what this machine keeps', async () => {
    await ran(['trust', 'fetch', served.url]);
    const { code, report } = await audit(['--to-kept'], 'home');
    expect(report).toMatchObject({ oldest: 3, complete: true, kept: { version: 3, same: true }, faults: [] });
    expect(code).toBe(0);
  });

  it.each([
    ['version', 3, 3],
    ['version', 2, 2],
    ['link', 2, 3],
  ])(
    'proves in one file that the root contradicts itself: by %s, at version %i',
    async (kind, version, seen) => {
      const name = `${kind}-${version}`;
      const other = await otherBundle(version);
      keep(file(name), other);
      const proof = file(`${name}.fork.json`);
      // A service that hides the bundle of that version still serves the one that names it.
      const { code, report } = await audit(
        ['--fork-out', proof, ...(kind === 'link' ? ['--to-kept'] : [])],
        name,
      );
      expect(report).toMatchObject({ fork: proof, kept: { version, same: false } });
      expect(report.faults[0]).toMatchObject({ code: 'fork', version: kind === 'link' ? seen : 3 });
      expect(code).toBe(1);
      const empty = { TALLY_HOME: temporaryFolder() };
      const verdict = JSON.parse(await ran(['trust', 'fork', 'verify', proof, '--json'], empty));
      expect(verdict).toMatchObject({ proves_fork: true, root: report.root });
      const both = JSON.parse(readFileSync(proof, 'utf8'));
      writeFileSync(proof, JSON.stringify({ ...both, bundles: [both.bundles[0], both.bundles[0]] }));
      expect(await tally(['trust', 'fork', 'verify', proof], empty)).toMatchObject({ code: 1 });
    },
  );

  it('tally trust fetch keeps what it has, and writes the proof', async () => {
    keep(file('fetched'), await otherBundle(3));
    const { code, stderr } = await tally(['trust', 'fetch', served.url], { TALLY_HOME: file('fetched') });
    expect(code).toBe(1);
    const [, proof = ''] = /The proof is in (\S+)\. /.exec(stderr) ?? [];
    const verified = await tally(['trust', 'fork', 'verify', proof], { TALLY_HOME: temporaryFolder() });
    expect(verified).toMatchObject({ code: 0 });
  });

  it('names an account that has vanished, and says when the line does not reach its end', async () => {
    const shown: Record<string, string> = {};
    const { url, service } = await serviceThatShows(shown);
    const audited = async () => {
      const { code, stdout } = await tally(['trust', 'audit', url, '--json'], {
        TALLY_HOME: file('stranger'),
      });
      return { code, report: JSON.parse(stdout) };
    };
    const [first = '', second = ''] = published();
    Object.assign(shown, { newest: second, 1: first });
    expect(await audited()).toMatchObject({ code: 0, report: { complete: true, faults: [] } });
    delete shown[1];
    expect(await audited()).toMatchObject({ code: 3, report: { complete: false, oldest: 2, faults: [] } });
    Object.assign(shown, { newest: await otherBundle(2, { history: { logs: [], chains: [] } }), 1: first });
    const { code, report } = await audited();
    expect(code).toBe(1);
    expect(report.faults).toEqual([expect.objectContaining({ code: 'vanished', version: 1 })]);
    Object.assign(shown, { newest: await otherBundle(2, { previous_sha256: undefined }) });
    expect(await audited()).toMatchObject({
      code: 1,
      report: { faults: [{ code: 'unlinked', version: 2 }] },
    });
    service.close();
  });

  describe('tally trust fetch of a version after the next', () => {
    const [first, second, third] = [1, 2, 3];
    const shown: Record<string, string> = {};
    let url: string;

    beforeAll(async () => {
      const { url: at, service } = await serviceThatShows(shown);
      url = at;
      return () => service.close();
    });

    /** Fetches where the first bundle is kept and the service shows others. */
    async function fetched(home: string, now: Record<string, string | undefined>) {
      for (const version of Object.keys(shown)) delete shown[version];
      Object.assign(shown, now);
      keep(file(home), published()[0] ?? '', url);
      const { code, stderr } = await tally(['trust', 'fetch', url], { TALLY_HOME: file(home) });
      const kept = JSON.parse(readFileSync(keptFile(file(home), url), 'utf8')).pin.version;
      return { code, stderr, kept };
    }

    it('takes what leads back to the kept one', async () => {
      const [one, two, newest] = published();
      expect(await fetched('led', { newest, [second]: two, [first]: one })).toEqual({
        code: 0,
        stderr: expect.not.stringContaining('Nothing shows'),
        kept: third,
      });
    });

    it('says where it cannot be followed', async () => {
      const [, , newest] = published();
      expect(await fetched('hidden', { newest })).toEqual({
        code: 0,
        stderr: expect.stringMatching(
          /Nothing shows that the bundle follows version 1, .* does not keep version 2/,
        ),
        kept: third,
      });
    });

    it('refuses a second line, with its proof', async () => {
      const other = await otherBundle(2, { previous_sha256: 'ab'.repeat(32) });
      const newest = await otherBundle(3, { previous_sha256: bundleHash(JSON.parse(other)) });
      const { code, stderr, kept } = await fetched('forked', { newest, [second]: other });
      expect({ code, kept }).toEqual({ code: 1, kept: first });
      const [, proof = ''] = /The proof is in (\S+)\. /.exec(stderr) ?? [];
      await ran(['trust', 'fork', 'verify', proof], { TALLY_HOME: temporaryFolder() });
    });

    it('refuses one that no longer names the one before', async () => {
      const newest = await otherBundle(3, { previous_sha256: undefined });
      const { code, stderr, kept } = await fetched('unlinked', { newest, [second]: published()[1] });
      expect({ code, kept }).toEqual({ code: 1, kept: first });
      expect(stderr).toMatch(/names no bundle before it, although version 2 does.*The saved bundle was kept/);
    });
  });

  /** The bundles of the three times, as they were served. */
  function published(): string[] {
    return bundles.map((path) => readFileSync(path, 'utf8').trim());
  }

  /** Starts a service that serves trust bundles by their version, and the one named `newest` as the present one. */
  async function serviceThatShows(shown: Record<string, string>) {
    const service = createServer((request, response) => {
      const found = /^\/\.well-known\/trust(?:\/(\d))?\.json$/.exec(request.url ?? '');
      const bundle = found && shown[found[1] ?? 'newest'];
      response.writeHead(bundle ? 200 : 404, { 'content-type': 'application/json' });
      response.end(bundle ?? JSON.stringify({ code: 'trust_not_found', title: 'none', status: 404 }));
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    return { service, url: `http://127.0.0.1:${(service.address() as AddressInfo).port}` };
  }

  /** Another bundle of a version, as the root might sign it beside the published one. */
  async function otherBundle(version: number, changes: Partial<TrustBundleFacts> = {}): Promise<string> {
    const keyring = await readKeyring(file('keyring.json'), null);
    const { issued_at, expires_at, ...facts } = JSON.parse(readFileSync(bundles[version - 1] ?? '', 'utf8'));
    const times = { issuedAt: Date.parse(issued_at), expiresAt: Date.parse(expires_at) + 1000 };
    return signTrustBundle({ ...facts, ...times, ...changes }, signerFor(keyring, 'root'));
  }

  /** Saves a bundle in a home as that of the service, as `tally trust fetch` does. */
  function keep(home: string, text: string, url = served.url): void {
    const bundle = JSON.parse(text);
    const root = rootFingerprint(fromBase64url(bundle.root.public_key, 32));
    const pin = { root, version: bundle.version, bundle_sha256: bundleHash(bundle) };
    mkdirSync(join(home, 'trust'), { recursive: true });
    writeFileSync(keptFile(home, url), JSON.stringify({ url, pin, bundle }));
  }

  const keptFile = (home: string, url: string): string =>
    join(home, 'trust', `${sha256Hex(utf8(url)).slice(0, 16)}.json`);
});
