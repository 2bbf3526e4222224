import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  CompactRange,
  checkCosignature,
  cosignCheckpoint,
  createSigner,
  generateSecretKey,
  leafHash,
  nodeHash,
  type Signer,
  sha256,
  sha256Hex,
  signCheckpoint,
  utf8,
  verifierKey,
  withSignature,
  witnessKey,
} from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bin, clean, type Ran, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
const ORIGIN = 'log.example.com';
let server: Server;
let url: string;
let signer: Signer;
/** What the stand-in for a log answers. */
const pages = new Map<string, string | Uint8Array>();

beforeAll(async () => {
  signer = await createSigner(generateSecretKey());
  server = createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    response.writeHead(page === undefined ? 404 : 200).end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
/** Empties the folder, so that no test finds the files of an earlier one. */
beforeEach(() => {
  remove();
  mkdirSync(at(''));
});
afterAll(() => {
  server.close();
  remove();
});

const hash = (text: string): Uint8Array => leafHash(sha256(utf8(text)));

/** Shows the checkpoint and the tile of a log of these leaves. */
async function show(...leaves: readonly string[]): Promise<string> {
  const tree = new CompactRange();
  for (const leaf of leaves) tree.append(hash(leaf));
  const note = await signCheckpoint({ origin: ORIGIN, size: leaves.length, root: tree.root() }, signer);
  pages.set('/checkpoint', note);
  pages.set(`/tile/0/000.p/${leaves.length}`, Buffer.concat(leaves.map(hash)));
  return note;
}

const vkey = (): string => verifierKey(ORIGIN, signer.publicKey);
const monitor = (): string[] => ['log', 'monitor', '--url', url, '--vkey', vkey()];

describe('tally log monitor', () => {
  const look = (state: string, ...more: string[]): Promise<Ran> =>
    tally([...monitor(), '--state', at(state), '--once', ...more]);

  test('a log that grows', async () => {
    const kinds: string[] = [];
    for (const leaves of [['a'], ['a'], ['a', 'b', 'c']]) {
      await show(...leaves);
      const { code, stdout } = await look('grows', '--json');
      const { kind, size, origin } = JSON.parse(stdout);
      expect({ code, size, origin }).toEqual({ code: 0, size: leaves.length, origin: ORIGIN });
      kinds.push(kind);
    }
    expect(kinds).toEqual(['first', 'unchanged', 'grown']);
    expect(readFileSync(at('grows'), 'utf8')).toBe(pages.get('/checkpoint'));
  });

  test('asks the service that TALLY_URL names, where --url is not given', async () => {
    await show('a');
    const args = ['log', 'monitor', '--vkey', vkey(), '--state', at('of-the-environment'), '--once'];
    expect(await tally(args, { env: { TALLY_URL: url } })).toMatchObject({ code: 0, stderr: '' });
  });

  test.each<[string, string[], RegExp]>([
    ['fork', ['a', 'x', 'c'], /FORK: .*contradict each other/],
    ['rollback', ['a'], /ROLLBACK: .*fewer leaves/],
  ])('a %s ends with 1 and shows both notes', async (kind, leaves, message) => {
    const earlier = await show('a', 'b');
    await look(kind);
    const later = await show(...leaves);
    const { code, stdout } = await look(kind);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(message) });
    expect(stdout).toContain(earlier);
    expect(stdout).toContain(later);
    expect(readFileSync(at(kind), 'utf8')).toBe(earlier);
    const json = await look(kind, '--json');
    expect({ code: json.code, ...JSON.parse(json.stdout) }).toMatchObject({ code: 1, kind, earlier, later });
  });

  test('tiles that do not make up what the log signed prove no fork', async () => {
    await show('a', 'b');
    await look('tiles');
    await show('a', 'b', 'c');
    pages.set('/tile/0/000.p/3', Buffer.concat(['a', 'b', 'x'].map(hash)));
    const { code, stdout } = await look('tiles');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/UNPROVED: .*do not make up what it signed.*\n.*They prove nothing yet/),
    });
    expect(JSON.parse((await look('tiles', '--json')).stdout)).toMatchObject({ kind: 'fork', proof: null });
  });

  test('holds the log to what others were shown, in files, folders and at URLs', async () => {
    const seen = await show('a', 'b');
    pages.set('/seen.txt', seen);
    mkdirSync(at('shown'));
    writeFileSync(at('shown/receipt.json'), JSON.stringify({ anchor: { checkpoint: seen } }));
    writeFileSync(at('shown/notes.txt'), 'nothing of the log');
    await show('a', 'b', 'c');
    const sources = [at('shown'), `${url}/seen.txt`];
    expect(await look('compares', '--compare', ...sources)).toMatchObject({ code: 0 });
    const later = await show('x', 'b', 'c', 'd');
    const found = await look('compares-anew', '--compare', at('shown'), '--json');
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({ kind: 'fork', earlier: seen, later });
    const { stdout } = await tally(['log', 'fork', 'verify', at('compares-anew.fork.json'), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ proves_fork: true, kind: 'subtrees' });
    const nothing = await look('compares', '--compare', at('shown/notes.txt'));
    expect(nothing).toMatchObject({ code: 1, stderr: expect.stringMatching(/notes\.txt has no checkpoint/) });
  });

  test('holds the log to what receipts on this machine were verified with', async () => {
    const seen = await show('a', 'b');
    const folder = at(`home/heads/${sha256Hex(utf8(vkey())).slice(0, 16)}`);
    mkdirSync(folder, { recursive: true });
    expect(await look('no-heads-yet')).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'half.txt.1.new'), seen.slice(0, 20));
    expect(await look('half-a-head')).toMatchObject({ code: 0 });
    // Listed, but not there when it is read.
    symlinkSync('gone', join(folder, 'pruned.txt'));
    expect(await look('a-head-that-went')).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'seen.txt'), seen);
    await show('a', 'b', 'c');
    expect(await look('own-heads')).toMatchObject({ code: 0 });
    const later = await show('x', 'b', 'c');
    const { code, stdout } = await look('own-heads-anew', '--json');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, kind: 'fork', earlier: seen, later });
    rmSync(folder, { recursive: true });
  });

  test('holds the log to a witness policy, and with --once ends with 3 where witnesses are missing', async () => {
    const witness = await createSigner(generateSecretKey());
    const policy = [`log ${vkey()}`, `witness w ${witnessKey('w.example', witness.publicKey)}`, 'quorum w'];
    writeFileSync(at('policy.txt'), `${policy.join('\n')}\n`);
    const witnessed = async (state: string) => {
      const { code, stdout } = await look(state, '--witness-policy', at('policy.txt'), '--json');
      return { code, witnessed: JSON.parse(stdout).witnessed };
    };
    const note = await show('a');
    const missing = { required: 1, satisfied: false, by: [], of: 1 };
    expect(await witnessed('unwitnessed')).toEqual({ code: 3, witnessed: missing });
    const text = await look('unwitnessed', '--witness-policy', at('policy.txt'));
    expect(text).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/UNWITNESSED.*: 0 of the 1 witnesses/),
    });
    const line = await cosignCheckpoint(note, { name: 'w.example', signer: witness }, 1_700_000_000);
    pages.set('/checkpoint', withSignature(note, line));
    const met = { required: 1, satisfied: true, by: ['w'], of: 1 };
    expect(await witnessed('witnessed')).toEqual({ code: 0, witnessed: met });
  });

  test('without --once it follows until the fork', async () => {
    await show('a', 'b');
    const child = spawn(
      process.execPath,
      [bin, ...monitor(), '--state', at('follows'), '--every', '5', '--json'],
      {
        env: clean,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const kinds: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      kinds.push(JSON.parse(line).kind);
      if (kinds.length === 1) await show('x', 'y');
    }
    if (child.exitCode === null) await once(child, 'exit');
    expect({ code: child.exitCode, kinds }).toEqual({ code: 1, kinds: ['first', 'fork'] });
  });

  test('a checkpoint of another key, and a log that is not there, end with 1', async () => {
    const other = await createSigner(generateSecretKey());
    pages.set('/checkpoint', await signCheckpoint({ origin: ORIGIN, size: 1, root: hash('a') }, other));
    expect(await look('other')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(checkpoint_signature_invalid\)/),
    });
    pages.delete('/checkpoint');
    expect(await look('gone')).toMatchObject({ code: 1, stderr: expect.stringMatching(/\(unavailable\)/) });
  });
});

test('tally log witness cosigns growth, remembers it, and says its key', async () => {
  await tally(['keys', 'generate', '--out', at('witness.json')]);
  const command = 'log witness --name witness.example.com --listen 127.0.0.1:0 --json'.split(' ');
  const files = ['--key', at('witness.json'), '--state', at('witness.state')];
  const child = spawn(process.execPath, [bin, ...command, ...files, '--log', vkey()], {
    env: clean,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  for await (const line of createInterface(child.stdout)) {
    text += line;
    if (line === '}') break;
  }
  const { verifier_key: key, url: witness } = JSON.parse(text);
  const [, name = '', encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(\S+)$/.exec(key) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  expect([name, bytes[0], bytes.length]).toEqual(['witness.example.com', 4, 33]);

  const submit = (old: number, proof: readonly Uint8Array[], note: string): Promise<Response> => {
    const lines = proof.map((one) => `${Buffer.from(one).toString('base64')}\n`).join('');
    return fetch(`${witness}/add-checkpoint`, { method: 'POST', body: `old ${old}\n${lines}\n${note}` });
  };
  const first = await show('a');
  const answer = await submit(0, [], first);
  const line = await answer.text();
  expect(answer.status).toBe(200);
  const publicKey = new Uint8Array(bytes.subarray(1));
  expect(await checkCosignature(withSignature(first, line), { name, publicKey })).toBeGreaterThan(0);
  expect((await submit(1, [hash('b')], await show('a', 'b'))).status).toBe(200);
  expect((await submit(1, [hash('x')], await show('a', 'x'))).status).toBe(409);
  expect(JSON.parse(readFileSync(at('witness.state'), 'utf8'))[ORIGIN]).toEqual({
    size: 2,
    root: Buffer.from(nodeHash(hash('a'), hash('b'))).toString('hex'),
  });
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
