import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin, run, type Service, serve, workspace } from './tally.ts';

const { at, home, tally, remove } = workspace();
const receipt = at('receipt.json');
let service: Service;

/** The service runs only while receipts and trust are made: everything after that is offline. */
beforeAll(async () => {
  service = await serve(at('data'));
  await tally(['mint', '--text', 'hello', '--out', receipt], { env: service.env });
  await tally(['emit', '--text', 'hello', '--profile', 'nano', '--out', at('nano.json')], {
    env: service.env,
  });
  await tally(['trust', 'fetch', '--out', at('bundle.json')], { env: service.env });
  await service.stop();
  const text = readFileSync(receipt, 'utf8');
  writeFileSync(at('forged.json'), text.replace('"purpose":"receipt"', '"purpose":"refund!"'));
  writeFileSync(
    at('hostile.json'),
    text.replace('"purpose":"receipt"', '"purpose":"\\u001b[2J\\u202e\\u000a✓ Valid"'),
  );
  writeFileSync(at('shapeless.json'), '{"v":"svc-receipt-v1"}');
});
afterAll(remove);

const withoutNetwork = ['unshare', '-rn'];
const canUnshare = spawnSync('env', [...withoutNetwork, 'true']).status === 0;

describe('offline, with saved trust', () => {
  test('says whom it trusts, what that proves, and every check', async () => {
    const { code, stdout, stderr } = await tally(['verify', receipt]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^✓ Valid: did:svc:local-[0-9a-f]{8}, an issuer that you trust\.\n {2}It proves that .*; not when, nor that what it says is true\.\n/,
    );
    expect(stdout).toContain(`vouched for by ${service.url}`);
    expect(stdout.match(/^ {2}[✓–✗] /gm)).toHaveLength(10);
  });

  test.skipIf(!canUnshare)('also where there is no network at all (skipped without unshare)', async () => {
    const command = ['env', ...withoutNetwork, process.execPath, bin];
    expect(await run(['verify', receipt], { command, env: { TALLY_HOME: home } })).toMatchObject({ code: 0 });
  });

  test('nano, which names its issuer only by the key', async () => {
    expect(await tally(['verify', at('nano.json')])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/did:svc:local-[0-9a-f]{8} verified/),
    });
  });

  test('standard input', async () => {
    expect(await tally(['verify', '-'], { input: readFileSync(receipt) })).toMatchObject({ code: 0 });
  });

  test('the JSON verdict names the bundles used', async () => {
    const { code, stdout } = await tally(['verify', receipt, '--json']);
    const verdict = JSON.parse(stdout);
    expect({ code, ...verdict }).toMatchObject({
      code: 0,
      valid: true,
      issuer: { trusted: true },
      family: 'envelope',
    });
    expect(verdict.trust).toMatchObject({
      vouched_by: service.url,
      bundles: [{ from: service.url, version: 1 }],
      refused: [],
    });
  });
});

describe('several files', () => {
  const nobody = at('nobody.json');
  const good = [receipt, at('nano.json')];
  const bad = [at('forged.json'), at('bundle.json')];
  const lines = (text: string): string[] => text.trimEnd().split('\n');

  test('a line for each, in their order', async () => {
    const { code, stdout, stderr } = await tally(['verify', ...good, ...bad, '-'], { input: 'no JSON' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(lines(stdout)).toEqual([
      expect.stringMatching(/^.*receipt\.json: ✓ Valid: did:svc:local-.*, an issuer that you trust\.$/),
      expect.stringMatching(/^.*nano\.json: ✓ Valid: /),
      expect.stringMatching(/^.*forged\.json: ✗ Not valid: signature: /),
      expect.stringMatching(/^.*bundle\.json: ✗ Not valid: This is not a receipt of a known family\.$/),
      expect.stringMatching(/^Standard input: ✗ Not valid: Standard input is not JSON\./),
    ]);
  });

  test.each<[string, string[], Record<string, string>, number]>([
    ['all are valid and trusted', good, {}, 0],
    ['one is not trusted', good, { TALLY_HOME: at('elsewhere') }, 3],
    ['one can’t be read, another is not trusted', [nobody, receipt], { TALLY_HOME: at('elsewhere') }, 2],
    ['one is not valid, another can’t be read', [bad[0] ?? '', nobody, receipt], {}, 1],
  ])('ends with the worst: %s', async (_, files, env, code) => {
    expect(await tally(['verify', ...files], { env })).toMatchObject({ code });
  });

  test('what can’t be read keeps nobody from the others', async () => {
    const { code, stdout, stderr } = await tally(['verify', nobody, receipt]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `tally: There is no file ${nobody}. (usage)\n` });
    expect(stdout).toMatch(/^.*receipt\.json: ✓ Valid: .*\n$/);
  });

  test('what is to be done is said once', async () => {
    const { stderr } = await tally(['verify', ...good], { env: { TALLY_HOME: at('elsewhere') } });
    expect(lines(stderr)).toEqual([expect.stringMatching(/tally trust fetch <url/)]);
  });

  test('--json gives a line for each', async () => {
    const { code, stdout } = await tally(['verify', receipt, nobody, ...bad, '--json']);
    const documents = lines(stdout).map((line) => JSON.parse(line));
    const alone = JSON.parse((await tally(['verify', receipt, '--json'])).stdout);
    expect(code).toBe(1);
    expect(documents[0]).toEqual({ file: receipt, ...alone, verified_at: documents[0].verified_at });
    expect(documents.slice(1)).toMatchObject([
      { file: nobody, error: { code: 'usage' } },
      { file: bad[0], valid: false },
      { file: bad[1], valid: false },
    ]);
  });

  test('--quiet says nothing of what is good, and one line of all else', async () => {
    expect(await tally(['verify', '--quiet', ...good])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await tally(['verify', receipt, '-q'])).toEqual({ code: 0, stdout: '', stderr: '' });
    const both = await tally(['verify', receipt, '--quiet', '--json']);
    expect([both.code, JSON.parse(both.stdout).error.code]).toEqual([2, 'usage']);
    const { code, stdout } = await tally(['verify', '--quiet', ...good, ...bad]);
    expect({ code, count: lines(stdout).length }).toEqual({ code: 1, count: 2 });
  });
});

describe('what is not valid ends with 1 and names the first failure', () => {
  test.each([
    ['changed contents', 'forged.json', /^✗ Not valid: signature: The signature does not match/],
    ['not a receipt', 'bundle.json', /^✗ Not valid: .*bundle\.json is not a receipt of a known family/],
    ['a receipt without its members', 'shapeless.json', /^✗ Not valid: format: receipt_profile must be/],
  ])('%s', async (_, file, headline) => {
    const { code, stdout } = await tally(['verify', at(file)]);
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringMatching(headline) });
    const json = await tally(['verify', at(file), '--json']);
    expect({ code: json.code, valid: JSON.parse(json.stdout).valid }).toEqual({ code: 1, valid: false });
  });

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'json_empty'],
    ['no JSON', 'hello', 'json_syntax'],
    ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'json_not_utf8'],
    ['a member twice', '{"a":1,"a":2}', 'json_duplicate_member'],
    ['deep nesting', '['.repeat(100_000), 'json_depth'],
    ['too much', new Uint8Array(65 * 1024 * 1024), 'body_too_large'],
  ])('%s', async (_, input, code) => {
    const json = await tally(['verify', '-', '--json'], { input });
    expect({ exit: json.code, ...JSON.parse(json.stdout) }).toMatchObject({
      exit: 1,
      valid: false,
      error: { code, message: expect.stringMatching(/^Standard input/) },
    });
  });

  test('a forged receipt of an issuer is not shown as verified', async () => {
    const { stdout } = await tally(['verify', at('forged.json')]);
    expect(stdout).toMatch(/names did:svc:local-[0-9a-f]{8}/);
    expect(stdout).not.toMatch(/did:svc:local-[0-9a-f]{8} verified ·/);
  });
});

describe('trust', () => {
  const elsewhere = { env: { TALLY_HOME: at('elsewhere') } };

  test('without any, a good receipt ends with 3 and the way to fetch some', async () => {
    const { code, stdout, stderr } = await tally(['verify', receipt], elsewhere);
    expect({ code, stdout, stderr }).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^○ Intact, but not trusted/),
      stderr: expect.stringMatching(/tally trust fetch <url/),
    });
  });

  test('from a bundle file, as served or as saved', async () => {
    const { stdout } = await tally(['trust', 'show', '--json']);
    const [{ file, root }] = JSON.parse(stdout).saved;
    for (const bundle of [at('bundle.json'), file]) {
      expect(await tally(['verify', receipt, '--trust', bundle, '--root', root], elsewhere)).toMatchObject({
        code: 0,
      });
    }
    const other = `sha256:${'0'.repeat(64)}`;
    expect(await tally(['verify', receipt, '--trust', file, '--root', other])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/trust_root_mismatch/),
    });
    expect(await tally(['verify', receipt, '--root', other])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/was not used/),
    });
  });

  test('from the saved bundle of one service', async () => {
    expect(await tally(['verify', receipt, '--trust', `${service.url}/`])).toMatchObject({ code: 0 });
  });

  test('expired bundles do not count, unless judged as of an earlier time', async () => {
    const late = ['--as-of', '2100-01-01T00:00:00Z'];
    expect(await tally(['verify', receipt, ...late])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/expired at .*--as-of/),
    });
    const named = await tally(['verify', receipt, '--trust', at('bundle.json'), ...late]);
    expect(named).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/expired at .*trust_expired/),
    });
    const { verified_at } = JSON.parse((await tally(['verify', receipt, '--json'])).stdout);
    const then = `${verified_at.slice(0, 19)}Z`;
    expect(await tally(['verify', receipt, '--as-of', then])).toMatchObject({ code: 0 });
  });

  test('a bundle that was changed is refused', async () => {
    const text = readFileSync(at('bundle.json'), 'utf8').replace('"active"', '"pending"');
    writeFileSync(at('changed.json'), text);
    expect(await tally(['verify', receipt, '--trust', at('changed.json')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/trust_signature_invalid/),
    });
  });
});

describe('on a terminal and in a pipe', () => {
  test('no escape sequences in a pipe, nor with NO_COLOR; some with FORCE_COLOR', async () => {
    const [piped, none, forced] = await Promise.all([
      tally(['verify', receipt]),
      tally(['verify', receipt], { env: { NO_COLOR: '1' } }),
      tally(['verify', receipt], { env: { FORCE_COLOR: '1' } }),
    ]);
    expect(piped.stdout).not.toContain('\x1b');
    expect(none.stdout).not.toContain('\x1b');
    expect(forced.stdout).toContain('\x1b[32m✓ Valid');
  });

  test('a receipt cannot write to the terminal', async () => {
    const [inspected, verified] = await Promise.all([
      tally(['inspect', at('hostile.json')]),
      tally(['verify', at('hostile.json')]),
    ]);
    expect(inspected.stdout).toContain('purpose \\u{1b}[2J\\u{202e}\\u{a}✓ Valid');
    expect(inspected.stdout + verified.stdout).not.toContain('\x1b');
    for (const { stdout } of [inspected, verified]) expect(stdout).not.toMatch(/\p{Cf}|^✓ Valid/mu);
  });

  test('a pipe that closes early is no failure', async () => {
    const child = spawn(process.execPath, [bin, 'inspect', receipt], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('inspect lays out what the receipt says, and its anchored hash', async () => {
    const { code, stdout } = await tally(['inspect', receipt, '--json']);
    const document = JSON.parse(readFileSync(receipt, 'utf8'));
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      family: 'envelope',
      document,
      anchored_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});
