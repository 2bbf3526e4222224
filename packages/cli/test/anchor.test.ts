import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import {
  anchoredHash,
  fromHex,
  generateSecretKey,
  noteKeyHash,
  publicKeyOf,
  toBase64url,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Devnet, startDevnet } from '../../chain/src/devnet.ts';
import { createLogger } from '../../server/src/observability/observability.ts';
import { type Ran, type Service, serve, workspace } from './tally.ts';

const { at, tally, remove } = workspace();
const CHAIN_ID = 31_337;
const receipt = at('receipt.json');
const anchor = at('anchor.json');
let devnet: Devnet;
let service: Service;
let apiKey: { key: string };

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const here = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  tally(args, { env: { ...service.env, ...env } });
const keyed = (args: readonly string[]): Promise<Ran> => here(args, { TALLY_API_KEY: apiKey.key });
const hashOf = (file: string): string => anchoredHash(read(file));

/** A real log on a real chain: a receipt is minted, anchored and waited for. */
beforeAll(async () => {
  const logger = createLogger('silent');
  devnet = await startDevnet({ dataDir: at('chain'), chainId: CHAIN_ID, logger });
  service = await serve(at('data'), {
    env: { TALLY_CHAIN_RPC_URL: devnet.rpcUrl, TALLY_ANCHOR_PERIOD_SECONDS: '1' },
  });
  const status = JSON.parse((await here(['anchor', 'status', '--json'])).stdout);
  await devnet.fund(status.chain.address, 10n ** 19n);
  apiKey = JSON.parse((await here(['apikey', 'create', '--tier', 'pro', '--json'])).stdout);
  await here(['trust', 'fetch', '--out', at('bundle.json')]);
  await here(['mint', '--text', 'hello', '--out', receipt]);
  await keyed(['anchor', receipt, '--wait', '--out', anchor]);
});
afterAll(async () => {
  await service.stop();
  await devnet.stop();
  remove();
});

describe('tally anchor', () => {
  test('gives the anchored result by hash in either form, reference and file', async () => {
    const { anchor_ref: ref } = read(anchor);
    const hex = hashOf(receipt);
    for (const what of [hex, `sha256:${hex}`, toBase64url(fromHex(hex, 32)), ref, receipt]) {
      const { code, stdout } = await here(['anchor', 'get', what, '--json']);
      expect({ code, result: JSON.parse(stdout) }).toEqual({ code: 0, result: read(anchor) });
    }
  });

  test.each([
    ['one', 'f8'.padEnd(64, '0'), /^-[^-]/],
    ['two', 'fbe0'.padEnd(64, '0'), /^--/],
  ])('takes a hash whose base64url begins with %s “-” for a hash', async (_, hex, dashes) => {
    const hash = toBase64url(fromHex(hex, 32));
    expect(hash).toMatch(dashes);
    const accepted = await keyed(['anchor', '--sha256', hash, '--wait', '--json']);
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    const result = JSON.parse(accepted.stdout);
    for (const args of [
      ['get', hash, '--json'],
      ['get', '--json', hash],
    ]) {
      const { code, stdout, stderr } = await here(['anchor', ...args]);
      expect({ code, stderr, result: stdout && JSON.parse(stdout) }).toEqual({ code: 0, stderr: '', result });
    }
    const { code, stdout } = await here(['log', 'prove', hash]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`index ${result.leaf_index}\n`),
    });
  });

  test('says what is pending, and when it is due', async () => {
    const plain = await serve(at('plain'), { env: { TALLY_ANCHOR_PERIOD_SECONDS: '3600' } });
    const { stdout: key } = await tally(['apikey', 'create', '--tier', 'pro'], { env: plain.env });
    const env = { ...plain.env, TALLY_API_KEY: key.trim() };
    const { code, stdout, stderr } = await tally(['anchor', receipt], { env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^\{"anchor_ref":"urn:anchor:pending:[^"]+:00Z:0","batch_id":"[^"]+","eta_seconds":\d+\}\n$/,
      ),
      stderr: expect.stringMatching(
        /^Pending: its root is posted in \d+ s\. Fetch the anchor then with: tally anchor get .*--wait/,
      ),
    });
    const { code: got, stdout: status } = await tally(['anchor', 'status'], { env: plain.env });
    expect(got).toBe(0);
    expect(status).toMatch(/1 accepted, [01] in the newest checkpoint, 0 anchored/);
    expect(status).toMatch(/in \d+ s \(every 3600 s\)/);
    expect(status).toMatch(/no chain: hashes stay pending/);
    await plain.stop();
  });

  test('only the hash leaves the machine, and the key goes nowhere else', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      const { authorization } = request.headers;
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        seen.push(`${request.url} ${authorization} ${body}`);
        response.writeHead(307, { location: `${service.url}/v1/anchor` }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stderr } = await keyed(['anchor', receipt, '--url', url]);
    server.closeAllConnections();
    server.close();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/It redirects to/) });
    const hash = toBase64url(fromHex(hashOf(receipt), 32));
    expect(seen).toEqual([`/v1/anchor Bearer ${apiKey.key} {"canonical_sha256":"${hash}"}`]);
    expect(stderr).not.toContain(apiKey.key);
  });

  test('an answer whose path does not lead from the hash is not handed on', async () => {
    const lying = createServer((request, response) => {
      request.resume().on('end', () => response.end(readFileSync(anchor)));
    });
    await new Promise<void>((resolve) => lying.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(lying.address() as AddressInfo).port}`;
    const { code, stdout, stderr } = await keyed(['anchor', '--sha256', 'ef'.repeat(32), '--url', url]);
    lying.closeAllConnections();
    lying.close();
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/does not lead from the hash.*\(anchor_invalid\)/),
    });
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['nothing to anchor', ['anchor'], {}, /either the file of a receipt/],
    [
      'two things to anchor',
      ['anchor', 'x', '--sha256', 'ab'.repeat(32)],
      {},
      /either the file of a receipt/,
    ],
    ['no key', ['anchor', '--sha256', 'ab'.repeat(32)], {}, /set TALLY_API_KEY.*tally apikey create/],
    ['an empty key', ['anchor', '--sha256', 'ab'.repeat(32)], { TALLY_API_KEY: '' }, /set TALLY_API_KEY/],
    [
      'a broken key',
      ['anchor', '--sha256', 'ab'.repeat(32)],
      { TALLY_API_KEY: 'se cret' },
      /Is it complete\?/,
    ],
    ['no hash', ['anchor', '--sha256', 'abc'], {}, /“abc” is not a SHA-256/],
    ['no file', ['anchor', 'get', 'nowhere.json'], {}, /There is no file nowhere\.json/],
    ['no reference', ['anchor', 'get', 'urn:anchor:x'], {}, /anchor_ref_invalid/],
    ['an option that no command has', ['anchor', 'get', '--jsn'], {}, /Unknown option '--jsn'/],
    [
      'such an option after a hash that begins with “-”',
      ['anchor', 'get', `-${'A'.repeat(42)}`, '--jsn'],
      {},
      /Unknown option '--jsn'/,
    ],
    [
      'more hashes than one',
      ['anchor', 'get', `-${'A'.repeat(42)}`, `-${'A'.repeat(42)}`],
      {},
      /Too many arguments/,
    ],
    ['a mint to anchor without a key', ['mint', '--text', 'x', '--anchor'], {}, /set TALLY_API_KEY/],
    ['no tier', ['apikey', 'create'], {}, /either a --tier \(pro, scale, enterprise\) or a --scope/],
    [
      'another tier',
      ['apikey', 'create', '--tier', 'free'],
      {},
      /Allowed choices are pro, scale, enterprise/,
    ],
    ['keys of no database', ['apikey', 'list'], { TALLY_DATA_DIR: at('no') }, /There is no database at/],
    ['a log of no database', ['log', 'fsck'], { TALLY_DATA_DIR: at('no') }, /There is no database at/],
    ['a checkpoint of both', ['log', 'checkpoint', '--local', '--url', 'http://127.0.0.1:1'], {}, /not both/],
    [
      'no verifier key',
      ['log', 'monitor', '--url', 'http://127.0.0.1:1', '--state', 'x', '--vkey', 'y'],
      {},
      /not the verifier key of a log/,
    ],
    [
      'a checkpoint of this machine by a bundle',
      ['log', 'checkpoint', '--local', '--trust', 'x'],
      {},
      /--trust and --root do not count/,
    ],
    [
      'an option that would not reach its command',
      ['anchor', '--url', 'http://127.0.0.1:1', 'get', 'x'],
      {},
      /tally anchor get --url/,
    ],
    ['--rpc without a node', ['verify', 'x', '--rpc'], {}, /TALLY_CHAIN_RPC_URL/],
  ])('wrong usage: %s', async (_, args, env, message) => {
    const { code, stdout, stderr } = await tally(args, { env });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(stderr).not.toContain('cret');
  });
});

describe('tally verify --anchor', () => {
  const verify = (...args: string[]): Promise<Ran> => tally(['verify', receipt, ...args]);

  test('offline: in a log whose checkpoint is signed, and no word of when', async () => {
    const { code, stdout } = await verify('--anchor', anchor);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ {2}It proves .*, and that it is in a log whose checkpoint is signed; not when, nor /m,
    );
    expect(stdout).toMatch(/^ {2}✓ anchor_checkpoint /m);
    expect(stdout).toMatch(/– anchor_transaction {3}The chain was not asked/);
  });

  test('an anchor that nothing speaks for is no fault, and is not passed over', async () => {
    const elsewhere = JSON.stringify(read(anchor)).replaceAll(service.url.slice(7), 'log.example');
    const pending = { anchor_ref: 'urn:anchor:pending:2026-01-01T00:00Z:0', eta_seconds: 9 };
    for (const [text, message] of [
      [elsewhere, /The anchor proves nothing so far. .* list the log log\.example\. .*tally trust fetch/],
      [JSON.stringify(pending), /The anchor proves nothing so far. Its root was due at 2026-01-01T00:00Z/],
    ] as const) {
      writeFileSync(at('nobody.json'), text);
      const { code, stderr } = await verify('--anchor', at('nobody.json'));
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(message) });
    }
    expect((await verify('--anchor', anchor)).stderr).toBe('');
  });

  test('with the chain: it existed at the time of the block', async () => {
    const { code, stdout } = await verify('--anchor', anchor, '--rpc', devnet.rpcUrl);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ {2}It proves .*, and that it existed at \d{4}-[^ ]+Z; not that what it says is true\.$/m,
    );
    const json = JSON.parse((await verify('--anchor', anchor, '--rpc', devnet.rpcUrl, '--json')).stdout);
    expect(json.checks).toContainEqual({
      name: 'anchor_transaction',
      ok: true,
      detail: expect.stringMatching(/^It existed at /),
    });
    expect(json.chain).toEqual({
      chain_id: CHAIN_ID,
      block_height: read(anchor).block_height,
      block_final: false,
    });
  });

  test('the node’s URL may stand in the environment', async () => {
    const env = { TALLY_CHAIN_RPC_URL: devnet.rpcUrl };
    expect(await tally(['verify', receipt, '--anchor', anchor, '--rpc'], { env })).toMatchObject({ code: 0 });
  });

  test('a receipt that carries its anchor needs no file', async () => {
    const result = read(anchor);
    writeFileSync(
      at('carrying.json'),
      JSON.stringify({ ...read(receipt), anchor_ref: result.anchor_ref, anchor: result }),
    );
    const { code, stdout } = await tally(['verify', at('carrying.json'), '--rpc', devnet.rpcUrl]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/and that it existed at/) });
  });

  test.each<[string, (result: Record<string, unknown>) => Record<string, unknown>, string]>([
    ['another root', (it) => ({ ...it, merkle_root: `sha256:${'0'.repeat(64)}` }), 'anchor'],
    ['another leaf', (it) => ({ ...it, leaf_index: 999 }), 'anchor'],
    ['another block', (it) => ({ ...it, block_height: 999 }), 'anchor'],
    ['no members', () => ({}), 'anchor'],
    [
      'another signature',
      (it) => ({
        ...it,
        checkpoint: String(it.checkpoint).replace(/.{9}(\n— local-witness)/, 'AAAAAAAA=$1'),
      }),
      'anchor_checkpoint',
    ],
  ])('a changed result is not valid: %s', async (_, change, name) => {
    writeFileSync(at('changed.json'), JSON.stringify(change(read(anchor))));
    const { code, stdout } = await verify('--anchor', at('changed.json'));
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^✗ Not valid: ${name}: `));
  });

  test('the anchor of another receipt is not valid', async () => {
    await here(['mint', '--text', 'other', '--out', at('other.json')]);
    const { code, stdout } = await tally(['verify', at('other.json'), '--anchor', anchor]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^✗ Not valid: anchor: The path/),
    });
  });

  test('a transaction that the chain does not have is not valid', async () => {
    const missing = `0x${'9'.repeat(64)}`;
    const text = readFileSync(anchor, 'utf8').replaceAll(read(anchor).tx_hash, missing);
    writeFileSync(at('missing.json'), text);
    expect((await verify('--anchor', at('missing.json'))).code).toBe(0);
    const { code, stdout } = await verify('--anchor', at('missing.json'), '--rpc', devnet.rpcUrl);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/^✗ Not valid: anchor_transaction: /),
    });
  });

  test('trouble with the node or the file is not the receipt’s fault, and the node’s URL stays secret', async () => {
    writeFileSync(at('text.txt'), 'no JSON');
    const cases: [string[], RegExp][] = [
      [['--anchor', anchor, '--rpc', 'http://127.0.0.1:9/s3cret'], /\(chain_unavailable\)/],
      [['--anchor', anchor, '--rpc', 's3cret'], /--rpc takes the URL/],
      [['--rpc', devnet.rpcUrl], /contains no anchored result/],
      [['--anchor', at('text.txt')], /\(json_syntax\)/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await verify(...args);
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(message),
      });
      expect(stderr).not.toContain('s3cret');
    }
  });
});

describe('minting with --anchor', () => {
  test.each<[string, string[]]>([
    ['mint', ['mint', '--text', 'a']],
    ['emit', ['emit', '--text', 'b']],
    ['emit --profile nano', ['emit', '--text', 'c', '--profile', 'nano']],
  ])('%s', async (name, args) => {
    const file = at(`${name}.json`);
    const { code, stderr } = await keyed([...args, '--anchor', '--out', file]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/tally anchor get .* --wait/),
    });
    expect((await here(['anchor', 'get', file, '--wait', '--out', at('minted.json')])).code).toBe(0);
    expect((await here(['verify', file, '--anchor', at('minted.json')])).code).toBe(0);
  });

  const said =
    'meter mint --machine m --customer c --rate-reference r --unit pick --billed 3 --unit-rate-minor 1 --currency EUR ' +
    '--from 2025-01-01T00:00:00Z --to 2025-02-01T00:00:00Z';
  const bill = (...more: string[]): string[] => [...said.split(' '), '--evidence', at('none.csv'), ...more];

  test('meter mint', async () => {
    writeFileSync(at('none.csv'), '');
    const ran = await keyed(bill('--anchor', '--out', at('bill.json')));
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringMatching(/tally anchor get/) });
    expect((await here(['anchor', 'get', at('bill.json'), '--wait'])).stdout).toContain('"merkle_root"');
  });

  test('what is minted here is anchored afterwards', async () => {
    const { code, stderr } = await keyed(bill('--anchor', '--key', 'x', '--salt-file', at('s')));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/tally anchor <file>/) });
  });
});

describe('tally log', () => {
  test('checkpoint: from outside and from inside', async () => {
    const [outside, inside] = await Promise.all([
      here(['log', 'checkpoint', '--json']),
      here(['log', 'checkpoint', '--local']),
    ]);
    const { origin, size, root, note } = JSON.parse(outside.stdout);
    expect({ origin, size, root, code: outside.code }).toEqual({
      origin: service.url.slice('http://'.length),
      size: expect.any(Number),
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
      code: 0,
    });
    expect(inside).toMatchObject({ code: 0, stdout: note });
  });

  test('checkpoint and prove end with 1 for a log that is not trusted, 2 without any trust', async () => {
    const other = await serve(at('elsewhere'));
    await tally(['trust', 'fetch', '--out', at('elsewhere.json')], {
      env: { ...other.env, TALLY_HOME: at('other-home') },
    });
    await other.stop();
    for (const args of [['checkpoint'], ['prove', receipt]]) {
      const unknown = await here(['log', ...args, '--trust', at('elsewhere.json')]);
      expect(unknown).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/does not list the log .* tally trust fetch/),
      });
      const none = await here(['log', ...args], { TALLY_HOME: at('empty-home') });
      expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/tally trust fetch/) });
    }
  });

  test('prove: by file, hash and index', async () => {
    const index = String(read(anchor).leaf_index);
    for (const what of [receipt, hashOf(receipt), index]) {
      const { code, stdout } = await here(['log', 'prove', what]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^c2sp\\.org/tlog-proof@v1\\nindex ${index}\\n`));
    }
    const written = await here(['log', 'prove', receipt, '--out', at('proof.txt'), '--json']);
    expect(JSON.parse(written.stdout)).toMatchObject({ index: Number(index), file: at('proof.txt') });
    expect(readFileSync(at('proof.txt'), 'utf8')).toContain('c2sp.org/tlog-proof@v1\n');
  });

  test('prove --cose: a COSE Receipt that verifies for its entry alone', async () => {
    const { code } = await here(['log', 'prove', receipt, '--cose', '--out', at('receipt.cbor')]);
    expect(code).toBe(0);
    const verify = (entry: string) => here(['verify', at('receipt.cbor'), '--entry', entry, '--json']);
    const good = await verify(hashOf(receipt));
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({
      family: 'cose_receipt',
      valid: true,
      issuer: { trusted: true },
    });
    expect((await verify('99'.repeat(32))).code).toBe(1);
  });

  test('prove: what is not in the log', async () => {
    for (const what of ['99'.repeat(32), '4294967296']) {
      expect(await here(['log', 'prove', what])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/\(anchor_not_found\)/),
      });
    }
  });

  test('fsck: beside a running server, with the chain and without', async () => {
    const plain = await here(['log', 'fsck']);
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✓ Sound: .*\(--rpc\)\.\n$/m) });
    const { stdout } = await here(['log', 'fsck', '--rpc', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, faults: [], fault_count: 0, chain_asked: true });
  });

  test('fsck: the node is the one that the service is told of, in a secret file too', async () => {
    const { TALLY_CHAIN_RPC_URL: url = '', ...env } = service.env;
    writeFileSync(at('rpc-url'), url);
    const named = { ...env, TALLY_CHAIN_RPC_URL_FILE: at('rpc-url') };
    const { stdout } = await tally(['log', 'fsck', '--rpc', '--json'], { env: named });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, chain_asked: true });
    const { TALLY_CHAIN_RPC_URL_FILE: _, ...none } = named;
    expect(await tally(['log', 'fsck', '--rpc'], { env: none })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give --rpc the URL of a node of the chain'),
    });
  });

  test('fsck: a node that can’t be asked is no fault of the log', async () => {
    const { code, stdout, stderr } = await here(['log', 'fsck', '--rpc', 'http://127.0.0.1:9/s3cret']);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/\(chain_unavailable\)/),
    });
    expect(stderr).not.toContain('s3cret');
  });

  test('fsck: one flipped bit in a leaf or a transaction is named, and ends with 1', async () => {
    await here(['backup', at('copy.db')]);
    mkdirSync(at('copy'));
    renameSync(at('copy.db'), at('copy/tally.db'));
    const database = new DatabaseSync(at('copy/tally.db'));
    const row = database.prepare('SELECT hash FROM leaves ORDER BY idx LIMIT 1').get() as {
      hash: Uint8Array;
    };
    const flipped = row.hash.map((byte, place) => (place === 7 ? byte ^ 16 : byte));
    database.prepare('UPDATE leaves SET hash = ? WHERE hash = ?').run(flipped, row.hash);
    database.exec(`UPDATE posting_attempts SET raw = replace(raw, '0x02', '0x03') WHERE sequence = 1`);
    database.close();
    const { code, stdout } = await tally(['log', 'fsck'], { env: { TALLY_DATA_DIR: at('copy') } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ (?:leaf|tile|checkpoint)/m);
    expect(stdout).toMatch(/^✗ posting 1: its transaction 0x[0-9a-f]{64} is /m);
    expect(stdout).toMatch(/^✗ Not sound: \d+ faults? in /m);
  });
});

describe('tally verify --witness-policy', () => {
  const policy = at('data/witness-policy.txt');
  const verify = (file: string, ...args: string[]): Promise<Ran> =>
    tally(['verify', receipt, '--anchor', anchor, '--witness-policy', file, ...args]);
  const changed = (name: string, change: (text: string) => string): string => {
    writeFileSync(at(name), change(readFileSync(policy, 'utf8')));
    return at(name);
  };

  test('finds the witnesses of a development log enough', async () => {
    const { code, stdout } = await verify(policy);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/✓ witnessed +2 of the 2 witnesses of the policy cosigned/),
    });
    const { witnessed } = JSON.parse((await verify(policy, '--json')).stdout);
    const by = ['local-witness-1', 'local-witness-2'];
    expect(witnessed).toEqual({ required: 2, satisfied: true, by, of: 2 });
  });

  test('keeps the signed head of a good anchor, and none of one whose log is not known', async () => {
    await tally(['verify', receipt, '--anchor', anchor]);
    const [log = ''] = readdirSync(at('home/heads'));
    const heads = readdirSync(at(`home/heads/${log}`)).map((name) =>
      readFileSync(at(`home/heads/${log}/${name}`), 'utf8'),
    );
    expect(heads).toContain(read(anchor).checkpoint);
    await tally(['verify', receipt, '--anchor', anchor], { env: { TALLY_HOME: at('home-without-trust') } });
    expect(existsSync(at('home-without-trust/heads'))).toBe(false);
  });

  test('is null without a policy', async () => {
    const { stdout } = await tally(['verify', receipt, '--anchor', anchor, '--json']);
    expect(JSON.parse(stdout).witnessed).toBeNull();
  });

  test.each([
    [
      'a witness that did not cosign',
      (text: string) => text.replace(/^(witness \S+) \S+$/m, `$1 ${STRANGER}`),
      /1 of 2 witnesses \(local-witness-2\); not enough, at least 2/,
    ],
    [
      'another log',
      (text: string) => text.replace(/^log .*$/m, `log ${OTHER_LOG}`),
      /0 of 2 witnesses; not enough/,
    ],
  ])('ends with 3 for %s', async (name, change, message) => {
    const { code, stdout } = await verify(changed(`${name}.txt`, change));
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(message) });
  });

  test('ends with 3 where there is no anchor', async () => {
    const { code, stdout } = await tally(['verify', receipt, '--witness-policy', policy, '--json']);
    const { valid, witnessed } = JSON.parse(stdout);
    expect({ code, valid, witnessed }).toEqual({
      code: 3,
      valid: true,
      witnessed: { required: 2, satisfied: false, by: [], of: 2 },
    });
  });

  test('ends with 2 for a policy that can’t be parsed, naming the line', async () => {
    const { code, stderr } = await verify(changed('twice.txt', (text) => `${text}quorum none\n`));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /twice\.txt: Line 8: There is more than one quorum line.*witness_policy_invalid/s,
      ),
    });
    expect((await verify(at('no-policy.txt'))).code).toBe(2);
  });

  test('remarks on a key of a type that is not known', async () => {
    const { code, stderr } = await verify(changed('pq.txt', (text) => `${text}witness q ${UNKNOWN}\n`));
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/Line 8: the key of the witness q is of type 0x7f/),
    });
  });
});

const keyOf = (name: string, type: number, publicKey: Uint8Array): string => {
  const id = noteKeyHash(name, type, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${Buffer.from([type, ...publicKey]).toString('base64')}`;
};
const STRANGER = keyOf('stranger', 4, publicKeyOf(generateSecretKey()));
const OTHER_LOG = keyOf('127.0.0.1', 1, publicKeyOf(generateSecretKey()));
const UNKNOWN = keyOf('q', 0x7f, new Uint8Array(32));
