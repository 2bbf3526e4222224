import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { createPostingKey, readPostingKey } from '@tallystick/chain';
import {
  CompactRange,
  createSigner,
  declaredSigner,
  type ForkFile,
  type JsonObject,
  openCheckpoint,
  ownKeySigner,
  parseVerifierKey,
  readSessionReceipt,
  SessionRecorder,
  secretInKeyDocument,
  signCheckpoint,
  signTrustBundle,
  tilePath,
} from '@tallystick/core';
import { type Keyring, readKeyring, signerFor } from '@tallystick/issuers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeSha256 } from '../packages/kit/src/crypto/node-sha256.ts';
import { openTestChain } from '../packages/server/test/anchoring.ts';
import { startAnvil, type TestAnvil } from '../packages/server/test/anvil.ts';
import { builtPage } from '../packages/web/scripts/page.ts';
import { launch, openAt } from '../packages/web/test/browser.ts';
import { createKey, getJson, type Key, statusOf, until } from './log-client.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const folder = temporaryFolder();
const file = (name: string): string => join(folder, name);
const page = readFileSync(new URL('../docs/malicious-operator.md', import.meta.url), 'utf8');
/** What the operator puts before his service: answers by path, in place of the true ones. */
const lies = new Map<string, Uint8Array | string>();
const trust = file('trust.json');

let chain: PostingChain;
let fresh: TestAnvil;
let env: Env;
let served: Served;
let front: Server;
let url: string;
let key: Key;
let keyring: Keyring;
let first: { readonly receipt: string; readonly anchor: string };

/** Writes a file, and returns its path. */
function written(name: string, content: Uint8Array | string): string {
  writeFileSync(file(name), content);
  return file(name);
}

/** Answers with a lie if there is one for the path, else with what the service answers. */
async function answer(path: string, response: ServerResponse): Promise<void> {
  const lie = lies.get(path);
  if (lie !== undefined) return void response.end(lie);
  const honest = await fetch(`${served.url}${path}`);
  response.writeHead(honest.status, { 'content-type': honest.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await honest.arrayBuffer()));
}

/** Runs `tally` in an empty home. */
const verifier = (...args: string[]) => tally(args, { TALLY_HOME: temporaryFolder() });

/** Runs `tally` in the client's home, which keeps what it has fetched. */
const client = (...args: string[]) => {
  const apiKey = key.authorization.replace('Bearer ', '');
  return tally(args, { TALLY_HOME: file('client'), TALLY_API_KEY: apiKey, TALLY_URL: served.url });
};

async function anchored(input: string): Promise<typeof first> {
  const emitted = await post(`${served.url}/v1/receipt/emit`, { input, anchor: true }, key);
  const { receipt } = JSON.parse(emitted.text);
  const { anchor } = await until(
    () => getJson(`${served.url}/v1/receipt/${receipt.id}`),
    (read) => 'anchor' in read,
  );
  return {
    receipt: written(`${input}.json`, emitted.text),
    anchor: written(`${input}-anchor.json`, JSON.stringify(anchor)),
  };
}

beforeAll(async () => {
  chain = await startPostingChain(folder);
  fresh = await startAnvil();
  env = {
    ...chain.env,
    TALLY_DATA_DIR: file('data'),
    TALLY_KEYRING: file('keyring.json'),
    TALLY_LOG_ORIGIN: 'log.example/anchors',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
  };
  served = await serve(env);
  keyring = await readKeyring(file('keyring.json'), null);
  front = createServer((request, response) => {
    answer(request.url ?? '', response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  key = await createKey('pro', env);
  first = await anchored('first');
  const { code, stderr } = await client('trust', 'fetch', url, '--out', trust);
  assert.equal(code, 0, stderr);
});
afterAll(async () => {
  front.closeAllConnections();
  front.close();
  await fresh.stop();
});

it('forks the log: the monitor’s file convicts him', async () => {
  const { verifier_key } = await statusOf(served.url);
  const follow = ['log', 'monitor', '--url', url, '--vkey', verifier_key, '--state', file('seen.txt')];
  expect(await client(...follow, '--once')).toMatchObject({ code: 0 });
  const { name: origin, publicKey } = parseVerifierKey(verifier_key);
  const { size } = await openCheckpoint(readFileSync(file('seen.txt'), 'utf8'), { origin, publicKey });
  const honestTile = new Uint8Array(await (await fetch(`${url}/${tilePath(0, 0, size)}`)).arrayBuffer());
  for (const grown of [0, 1]) {
    const tile = Buffer.concat([honestTile, randomBytes(32 * grown)]);
    randomBytes(32).copy(tile);
    const tree = new CompactRange(undefined, nodeSha256);
    for (let at = 0; at < tile.length; at += 32) tree.append(tile.subarray(at, at + 32));
    const forked = { origin, size: size + grown, root: tree.root() };
    lies.set('/checkpoint', await signCheckpoint(forked, signerFor(keyring, 'log')));
    lies.set(`/${tilePath(0, 0, forked.size)}`, tile);
    const proof = file(`fork-${grown}.json`);
    expect(await client(...follow, '--once', '--fork-out', proof)).toMatchObject({ code: 1 });
    const convicted = await verifier('log', 'fork', 'verify', proof);
    expect(convicted).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Proves that ${origin} forked`),
    });
    const both: ForkFile = JSON.parse(readFileSync(proof, 'utf8'));
    const honest = written('no-fork.json', JSON.stringify({ ...both, larger: both.smaller }));
    const acquitted = await verifier('log', 'fork', 'verify', honest);
    expect(acquitted).toMatchObject({ code: 1, stdout: expect.stringContaining('No proof of a fork') });
    lies.clear();
  }
});

describe('makes an evidence bundle that is not what the stream counted: the bundle convicts him', () => {
  /** A tenant with receipts over these inputs, whose heads count them all. */
  async function room(...inputs: readonly string[]) {
    const tenant = (await tally(['tenant', 'create'], env)).stdout.trim();
    const authorization = `Bearer ${(await tally(['tenant', 'key', tenant], env)).stdout.trim()}`;
    const ids: string[] = [];
    for (const input of inputs) {
      const { text } = await post(`${served.url}/tenants/${tenant}/receipts`, { input }, { authorization });
      ids.push(JSON.parse(text).receipt.id);
    }
    const judged = async (name: string) => {
      const answer = await fetch(`${served.url}/tenants/${tenant}/evidence`, { headers: { authorization } });
      const bundle = written(name, new Uint8Array(await answer.arrayBuffer()));
      const { code, stdout } = await verifier('evidence', 'verify', bundle, '--trust', trust, '--json');
      return { code, ...JSON.parse(stdout) };
    };
    expect(await judged('whole.zip')).toMatchObject({ code: 0, completeness: { complete: true } });
    return { tenant, ids, judged };
  }

  /** What the page says of a bundle, offline. */
  async function shownOf(bundle: string): Promise<{ readonly title: string; readonly complete: string }> {
    const browser = await launch();
    try {
      const address = pathToFileURL(builtPage('evidence').pathname).href;
      const { page: shown } = await openAt(browser, address, { offline: true });
      await shown.setInputFiles('#bundle-file', bundle);
      await shown.waitForSelector('#result .verdict h2');
      const complete = await shown.innerText('#result [data-slot=complete]');
      return { title: await shown.innerText('#result h2'), complete };
    } finally {
      await browser.close();
    }
  }

  function falsify(change: (database: DatabaseSync) => void): void {
    const database = new DatabaseSync(join(file('data'), 'tally.db'), { timeout: 60_000 });
    change(database);
    database.close();
  }

  it('a receipt is left out, and the page says so too', async () => {
    const { ids, judged } = await room('one', 'two', 'three');
    falsify((database) =>
      expect(database.prepare('DELETE FROM receipts WHERE id = ?').run(ids[1] ?? '').changes).toBe(1),
    );
    expect(await judged('short.zip')).toMatchObject({
      code: 1,
      intact: true,
      completeness: { complete: false, faults: [{ kind: 'left_out', index: 2 }] },
    });
    const shown = await shownOf(file('short.zip'));
    expect(shown.title).toBe('Not complete');
    expect(shown.complete).toContain(', number 2 of the stream, is not here.');
    expect((await shownOf(file('whole.zip'))).title).not.toBe('Not complete');
  });

  it('two receipts are given in another order', async () => {
    const { tenant, judged } = await room('seven', 'eight');
    falsify((database) => {
      const rounds = database
        .prepare('SELECT stream, first, hashes FROM stream_rounds WHERE stream = ? ORDER BY first')
        .all(`tenant:${tenant}`);
      const [one, two] = rounds;
      const write = database.prepare('UPDATE stream_rounds SET hashes = ? WHERE stream = ? AND first = ?');
      for (const [place, hashes] of [
        [one?.['first'], two?.['hashes']],
        [two?.['first'], one?.['hashes']],
      ])
        expect(write.run(hashes as Uint8Array, `tenant:${tenant}`, Number(place)).changes).toBe(1);
    });
    expect(await judged('moved.zip')).toMatchObject({
      code: 1,
      completeness: { complete: false, faults: [{ kind: 'moved' }] },
    });
  });
});

it('signs two bundles of one version: the reader’s file convicts him', async () => {
  expect(await client('trust', 'fetch', url)).toMatchObject({ code: 0 });
  const { issued_at, expires_at, ...facts } = JSON.parse(readFileSync(trust, 'utf8'));
  const times = { issuedAt: Date.parse(issued_at), expiresAt: Date.parse(expires_at) + 1000 };
  lies.set(
    '/.well-known/trust.json',
    await signTrustBundle({ ...facts, ...times }, signerFor(keyring, 'root')),
  );
  const { code, stderr } = await client('trust', 'fetch', url);
  lies.clear();
  expect(code).toBe(1);
  const [, proof = ''] = /The proof is in (\S+)\. /.exec(stderr) ?? [];
  expect(await verifier('trust', 'fork', 'verify', proof)).toMatchObject({ code: 0 });
  const both = JSON.parse(readFileSync(proof, 'utf8'));
  const same = JSON.stringify({ ...both, bundles: [both.bundles[0], both.bundles[0]] });
  expect(await verifier('trust', 'fork', 'verify', written('same.json', same))).toMatchObject({ code: 1 });
});

describe('re-signs a session', () => {
  const kept = file('kept.jsonl');
  let did: string;
  let lines: string[];
  let rewrite: { sign: ReturnType<typeof ownKeySigner>; salt: Uint8Array; random: typeof randomBytes };
  const call = (tool: string) => {
    const server = { name: 'files', version: null, transport: 'stdio', identity_sha256: null } as const;
    return { tool, server, outcome: 'completed', arguments: null, result: null } as const;
  };
  const verify = (name: string, ...texts: string[]) =>
    verifier('session', 'verify', written(name, `${texts.join('\n')}\n`), '--key', did);

  beforeAll(async () => {
    for (const args of [
      ['new', kept],
      ['record', kept, '--tool', 'delete_file'],
      ['anchor', kept],
      ['record', kept, '--tool', 'read_file'],
    ]) {
      const { code, stderr } = await client('session', ...args);
      assert.equal(code, 0, stderr);
    }
    lines = readFileSync(kept, 'utf8').trim().split('\n');
    const secret = secretInKeyDocument(JSON.parse(readFileSync(file('client/recorder.json'), 'utf8')));
    const signer = await createSigner(secret);
    did = signer.keyId;
    const sign = ownKeySigner({ signer, now: Date.now, random: randomBytes });
    rewrite = { sign, salt: randomBytes(32), random: randomBytes };
  });

  it('before its anchor: both files as one convict him, and the anchor is of the first', async () => {
    const [opening = '', anchoredLine = ''] = lines;
    const { id } = readSessionReceipt(opening).call.session;
    const { recorder, receipt } = await SessionRecorder.open(rewrite, { id });
    const other = [receipt, await recorder.tool(call('read_file'))];
    expect(await verify('whole.jsonl', ...lines)).toMatchObject({ code: 0 });
    expect(await verify('rewritten.jsonl', ...other)).toMatchObject({ code: 0 });
    const both = await verify('both.jsonl', ...lines, ...other);
    expect(both).toMatchObject({ code: 1, stdout: expect.stringContaining('two receipts of number 1') });
    const twice = await verify('twice.jsonl', ...lines, ...lines);
    expect(twice.stdout).not.toContain('two receipts of number');
    const anchor = written('session-anchor.json', JSON.stringify(JSON.parse(anchoredLine).anchor));
    const judged = async (name: string, text: string) => {
      const options = ['--anchor', anchor, '--trust', trust, '--rpc', chain.anvil.rpcUrl, '--json'];
      const { code, stdout } = await verifier('verify', written(name, text), ...options);
      const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean | null }[] };
      return { code, ok: checks.find(({ name: check }) => check === 'anchor')?.ok };
    };
    expect(await judged('step.json', anchoredLine)).toEqual({ code: 3, ok: true });
    expect(await judged('other-step.json', other[1] ?? '')).toEqual({ code: 1, ok: false });
  });

  it('after its anchor: nothing convicts him, and the page says so', async () => {
    const [opening = '', anchoredLine = ''] = lines;
    const { call: at, hash } = readSessionReceipt(anchoredLine);
    const recorder = SessionRecorder.resume(rewrite, { id: at.session.id, seq: 1, hash });
    const tail = await recorder.tool(call('nothing_at_all'));
    expect(await verify('tail.jsonl', opening, anchoredLine, tail)).toMatchObject({ code: 0 });
    expect(page).toContain('After the last anchored receipt nothing convicts the holder of the key');
  });
});

describe('back-dates', () => {
  const verify = async (...args: string[]) => {
    const { code, stdout } = await verifier('verify', ...args, '--trust', trust, '--json');
    const { checks } = JSON.parse(stdout) as {
      checks: { name: string; ok: boolean | null; detail: string }[];
    };
    return { code, checks: Object.fromEntries(checks.map(({ name, ...rest }) => [name, rest])) };
  };

  it('a bill: the key’s start and the anchor say that it was signed later, and the page says what nothing shows', async () => {
    const evidence = written('leaves.ndjson', '');
    const bill = async (name: string, ...compiled: string[]): Promise<string> => {
      const out = file(name);
      const what = ['--machine', 'SN-1', '--customer', 'acme', '--rate-reference', 'c-1', '--unit', 'pick'];
      const window = ['--from', '2025-01-01T00:00:00Z', '--to', '2025-02-01T00:00:00Z', '--billed', '4'];
      const rate = ['--unit-rate-minor', '100', '--currency', 'EUR', '--evidence', evidence, '--out', out];
      const minted = await client('meter', 'mint', ...what, ...window, ...rate, ...compiled);
      expect(minted.code, minted.stderr).toBe(0);
      return out;
    };
    const honest = await verify(await bill('bill.json'));
    expect(honest).toMatchObject({ code: 0, checks: { key_window: { ok: true } } });
    expect(honest.checks['key_window']?.detail).not.toContain('signed later than compiled');
    const early = await bill('early.json', '--compiled-at', '2025-02-01T00:00:00Z');
    const later = { ok: true, detail: expect.stringContaining('signed later than compiled') };
    expect(await verify(early)).toMatchObject({ code: 0, checks: { key_window: later } });
    const anchor = file('bill-anchor.json');
    expect(await client('anchor', early, '--wait', '--out', anchor)).toMatchObject({ code: 0 });
    const year = new Date().getUTCFullYear();
    expect(await verify(early, '--anchor', anchor, '--rpc', chain.anvil.rpcUrl)).toMatchObject({
      code: 0,
      checks: { anchor_transaction: { ok: true, detail: expect.stringContaining(`existed at ${year}`) } },
    });
    expect(page).toContain('Within the time of its key, nothing in a bill shows when it was signed');
  });

  it('any other receipt to before the key’s start: the receipt convicts him', async () => {
    const signed = async (name: string, now: () => number): Promise<string> => {
      const signer = signerFor(keyring, 'receipt');
      const sign = declaredSigner({ signer, now, random: randomBytes }, keyring.document.did);
      const { receipt } = await SessionRecorder.open({ sign, salt: randomBytes(32), random: randomBytes });
      return written(name, receipt);
    };
    expect(await verify(await signed('now.json', Date.now))).toMatchObject({ code: 0 });
    const old = await verify(await signed('old.json', () => Date.UTC(2025, 0)));
    expect(old).toMatchObject({ code: 1, checks: { key_window: { ok: false } } });
  });
});

describe('swaps the chain', () => {
  const verify = async ({ receipt, anchor }: typeof first, rpc: string) => {
    const options = ['--anchor', anchor, '--trust', trust, '--rpc', rpc, '--json'];
    const { code, stdout } = await verifier('verify', receipt, ...options);
    const { checks = [] } = JSON.parse(stdout) as { checks?: JsonObject[] };
    return { code, said: checks.find(({ name }) => name === 'anchor_transaction')?.['detail'] };
  };

  it('for another one, or an empty one: the anchor convicts him before a node of the true chain', async () => {
    expect(await verify(first, chain.anvil.rpcUrl)).toMatchObject({ code: 0 });
    const empty = await verify(first, fresh.rpcUrl);
    expect(empty).toEqual({ code: 1, said: expect.stringContaining('has no transaction') });
    const other = await startAnvil(31_338);
    expect(await verify(first, other.rpcUrl)).toMatchObject({ code: 2 });
    await other.stop();
  });

  it('for a fresh one of the same id: his node dates the receipt as he likes, and the page says so', async () => {
    const { tx_hash } = JSON.parse(readFileSync(first.anchor, 'utf8'));
    const raw = await chain.anvil.rpc('eth_getRawTransactionByHash', tx_hash);
    const { address } = openTestChain({
      rpcUrl: fresh.rpcUrl,
      secretKey: readPostingKey(file('posting.key')),
      finality: { kind: 'confirmations', count: 1 },
    });
    await fresh.rpc('anvil_setBalance', address, '0xde0b6b3a7640000');
    await fresh.rpc('evm_setNextBlockTimestamp', Date.UTC(2100, 0) / 1000);
    expect(await fresh.rpc('eth_sendRawTransaction', raw)).toBe(tx_hash);
    const said = expect.stringContaining('existed at 2100-01-01');
    expect(await verify(first, fresh.rpcUrl)).toEqual({ code: 0, said });
    expect(page).toContain('Offline nobody can tell one chain from another of the same id');
  });

  it('for another account: the bundle that the reader pinned convicts him', async () => {
    await served.kill('SIGTERM');
    createPostingKey(file('other.key'));
    const { address } = openTestChain({
      rpcUrl: chain.anvil.rpcUrl,
      secretKey: readPostingKey(file('other.key')),
      finality: { kind: 'confirmations', count: 1 },
    });
    await chain.anvil.rpc('anvil_setBalance', address, '0xde0b6b3a7640000');
    served = await serve({ ...env, TALLY_POSTING_KEY_FILE: file('other.key') });
    const swapped = await verify(await anchored('swapped'), chain.anvil.rpcUrl);
    expect(swapped).toEqual({ code: 1, said: expect.stringContaining('does not post for this log') });
  });
});
