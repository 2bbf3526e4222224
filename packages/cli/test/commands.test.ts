import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, run, type Service, serve, workspace } from './tally.ts';

const { at, tally, remove } = workspace();
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'));
  writeFileSync(at('empty.json'), '');
  writeFileSync(at('object.json'), '{}');
  writeFileSync(at('text.txt'), 'no JSON here');
  writeFileSync(at('latin1.txt'), Uint8Array.of(0x22, 0xff, 0x22));
});
afterAll(async () => {
  await service.stop();
  remove();
});

const withService = (args: readonly string[], input = ''): Promise<Ran> =>
  tally(args, { env: service.env, input });

describe('wrong usage ends with 2 and says what to do', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown command', ['verfiy', 'x'], /Did you mean verify\?/],
    ['an unknown command of a group', ['keys', 'rotaet'], /Did you mean rotate\?.*tally keys --help/],
    ['an unknown option', ['verify', 'x', '--jsn'], /unknown option '--jsn' \(Did you mean --json\?\)/i],
    ['a missing argument', ['inspect'], /Missing required argument 'file'\. See: tally inspect --help/],
    ['one argument too many', ['inspect', 'a', 'b'], /Too many arguments/],
    ['a missing option', ['keys', 'generate'], /Required option '--out <file>'/],
    ['an option without its value', ['mint', '--text'], /argument missing/],
    [
      'a wrong profile',
      ['emit', '--text', 'x', '--profile', 'mini'],
      /Allowed choices are nano, standard, pq/,
    ],
    [
      'a wrong role',
      ['countersign', 'x', '--key', 'k', '--role', 'boss'],
      /Allowed choices are requester, operator/,
    ],
    ['rotating the root', ['keys', 'rotate', '--purpose', 'root'], /Allowed choices are receipt, /],
    [
      'a wrong reason',
      ['keys', 'revoke', 'did:key:z', '--reason', 'bored'],
      /Allowed choices are compromised, /,
    ],
    ['a wrong handle', ['keys', 'register', '--handle', 'A_B', '--key', 'k'], /--handle A_B/],
    ['a wrong time', ['verify', 'x', '--as-of', 'soon'], /--as-of takes a UTC time such as/],
    ['a wrong fingerprint', ['trust', 'fetch', '--root', 'abc'], /sha256: and 64 hex/],
    [
      'a wrong number of days',
      ['trust', 'sign', 'x', '--root-keyring', 'k', '--days', '0'],
      /from 1 to 3660/,
    ],
    ['no URL', ['mint', '--text', 'x', '--url', 'example.com'], /Did you mean https:\/\/example\.com\?/],
    ['a URL with credentials', ['trust', 'fetch', 'https://me:pw@example.com'], /no credentials/],
    ['nothing to mint', ['mint'], /as a file, as - for standard input, or with --text/],
    ['two things to mint', ['mint', 'file', '--text', 'x'], /either/],
    ['a text where a file belongs', ['mint', 'hello'], /tally mint --text "hello"/],
    ['nothing to emit', ['emit'], /exactly one of --payload, --text and --sha256/],
    ['two things to emit', ['emit', '--text', 'x', '--sha256', 'y'], /exactly one of/],
    ['no file', ['verify', 'nowhere.json'], /There is no file nowhere\.json/],
    ['a folder', ['verify', '/'], /\/ is a folder/],
    [
      'nothing saved of a URL',
      ['verify', 'x', '--trust', 'http://127.0.0.1:1'],
      /tally trust fetch http:\/\/127\.0\.0\.1:1/,
    ],
    ['forgetting what is not there', ['trust', 'forget', 'http://127.0.0.1:1'], /No bundle of .* is saved/],
    ['an anchor for two', ['verify', 'a', 'b', '--anchor', 'c'], /--anchor is of one receipt/],
    ['standard input twice', ['verify', '-', '-'], /Standard input can be read once/],
    ['a shell that is not known', ['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [
      'a key that no header carries',
      ['mint', '--text', 'x', '--idempotency-key', 'ä\n'],
      /--idempotency-key/,
    ],
    ['no keyring', ['keys', 'list'], /tally keys init/],
    ['no database', ['backup', 'x.db'], /There is no database at .*TALLY_DATA_DIR/],
    ['a wrong setting', ['serve'], /PORT is "no", not an integer/],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await tally(args, {
      env: { TALLY_DATA_DIR: at('nothing'), PORT: args[0] === 'serve' ? 'no' : '0' },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('failures end with 1, a code and the reason', () => {
  test.each<[string, () => string[], string, RegExp]>([
    [
      'nothing answers',
      () => ['mint', '--text', 'x', '--url', 'http://127.0.0.1:9'],
      'unavailable',
      /Nothing answers at .*tally serve/,
    ],
    ['the service refuses', () => ['mint', '--text', ''], 'empty_input', /empty/],
    [
      'a key file that is none',
      () => ['countersign', at('object.json'), '--role', 'requester', '--key', at('object.json')],
      'invalid_secret_key',
      /tally keys generate/,
    ],
    ['no receipt to inspect', () => ['inspect', at('object.json')], 'not_a_receipt', /not a receipt/],
    ['no JSON to inspect', () => ['inspect', at('text.txt')], 'json_syntax', /text\.txt is not JSON/],
    ['no bundle to show', () => ['trust', 'show', at('object.json')], 'trust_invalid', /type/],
    [
      'no draft to sign',
      () => ['trust', 'sign', at('object.json'), '--root-keyring', 'k'],
      'trust_invalid',
      /tally trust draft/,
    ],
    [
      'an issuer that is not there',
      () => ['trust', 'approve', 'did:svc:nobody'],
      'issuer_not_found',
      /not registered/,
    ],
    [
      'a key that is not there',
      () => ['keys', 'revoke', 'did:key:z6Mk', '--reason', 'ceased'],
      'invalid_field',
      /not a key of/,
    ],
  ])('%s', async (_, args, errorCode, message) => {
    const plain = await withService(args());
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 1, stdout: '' });
    expect(plain.stderr).toMatch(message);
    expect(plain.stderr).toContain(`(${errorCode})`);
    const { code, stdout, stderr } = await withService([...args(), '--json']);
    expect({ code, stderr, error: JSON.parse(stdout).error }).toMatchObject({
      code: 1,
      stderr: '',
      error: { code: errorCode },
    });
  });

  test('usage errors have a JSON form too', async () => {
    const { code, stdout } = await tally(['inspect', '--json']);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 2,
      error: { code: 'usage', message: expect.stringMatching(/Missing/) },
    });
  });

  test('bytes that are no text are not minted', async () => {
    const { code, stderr } = await withService(['mint', at('latin1.txt')]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not UTF-8 text.*tally emit --sha256/),
    });
  });

  test('a receipt that cannot be written is printed instead of lost', async () => {
    const { code, stdout, stderr } = await withService(['mint', '--text', 'x', '--out', at('no/such/file')]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/There is no folder/) });
    expect(JSON.parse(stdout)).toMatchObject({ v: 'svc-receipt-v1' });
  });
});

describe('help', () => {
  test('every command describes itself and its options', async () => {
    const commands = [
      'serve',
      'backup',
      'mint',
      'emit',
      'verify',
      'countersign',
      'inspect',
      'keys',
      'keys generate',
      'keys register',
    ];
    commands.push(
      'keys init',
      'keys list',
      'keys rotate',
      'keys revoke',
      'keys passphrase',
      'trust',
      'trust fetch',
      'trust show',
      'trust forget',
    );
    commands.push('apikey create', 'mcp', 'mcp wrap', 'mcp install', 'rosetta', 'rosetta normalize');
    commands.push('prospector', 'prospector qualify');
    commands.push('trust draft', 'trust sign', 'trust publish', 'trust approve');
    const reference = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
    await Promise.all(
      commands.map(async (command) => {
        const { code, stdout } = await run([...command.split(' '), '--help']);
        expect({ command, code }).toEqual({ command, code: 0 });
        expect(stdout).toContain(`Usage: tally ${command}`);
        expect(reference).toContain(`tally ${command}`);
        for (const [option] of stdout.matchAll(/(?<=^ {2}(?:-\w, )?)--[a-z][\w-]*/gm))
          expect(reference).toContain(option);
      }),
    );
  });

  test('tally alone shows the help and ends with 0', async () => {
    const alone = await run([]);
    expect(alone).toEqual({ code: 0, stdout: (await run(['--help'])).stdout, stderr: '' });
    expect(alone.stdout).toMatch(/\nReceipts:\n {2}mint .*\nRun a service:\n {2}serve /s);
  });

  test('a group without a command shows its help and ends with 2', async () => {
    const { code, stdout, stderr } = await run(['trust']);
    expect({ code, stdout, stderr }).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/Usage: tally trust/),
    });
  });

  test('the version is the package’s', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect((await run(['--version'])).stdout).toBe(`${version}\n`);
  });
});

describe('minting and emitting', () => {
  test('prints the receipt to the byte, or indented, or into a file', async () => {
    const plain = await withService(['mint', '--text', 'hi', '--idempotency-key', 'k1']);
    const indented = await withService(['mint', '--text', 'hi', '--idempotency-key', 'k1', '--json']);
    const out = await withService(
      ['mint', '-', '--idempotency-key', 'k1', '--out', at('r.json'), '--json'],
      'hi',
    );
    expect([plain.code, indented.code, out.code]).toEqual([0, 0, 0]);
    expect(readFileSync(at('r.json'), 'utf8')).toBe(plain.stdout);
    expect(JSON.parse(indented.stdout)).toEqual(JSON.parse(plain.stdout));
    const { receipt_id } = JSON.parse(plain.stdout);
    expect(JSON.parse(out.stdout)).toEqual({
      file: at('r.json'),
      receipt_id,
      bytes: plain.stdout.trimEnd().length,
    });
  });

  test.each<[string, string[], object]>([
    ['nano', ['--text', 'hi', '--profile', 'nano'], { profile: 'nano', ok: true }],
    [
      'a JSON payload',
      ['--payload', '-', '--purpose', 'p'],
      { subject: { content_type: 'application/json', ok: true } },
    ],
    [
      'a hash',
      ['--sha256', 'ab'.repeat(32), '--failed', '--content-type', 'text/x'],
      { subject: { sha256: 'ab'.repeat(32), ok: false, content_type: 'text/x' } },
    ],
    ['a whole request', ['--request', '-', '--profile', 'pq'], { receipt_profile: 'pq' }],
  ])('emits %s', async (_, args, expected) => {
    const { code, stdout } = await withService(['emit', ...args], '{"input":"x"}');
    expect({ code, receipt: JSON.parse(stdout) }).toMatchObject({ code: 0, receipt: expected });
  });
});

describe('keys of one’s own', () => {
  test('generate, mint, counter-sign, register', async () => {
    const key = at('me.json');
    const made = await tally(['keys', 'generate', '--out', key, '--json']);
    const { key_id } = JSON.parse(made.stdout);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(await tally(['keys', 'generate', '--out', key])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/already exists/),
    });
    await withService(['mint', '--text', 'x', '--agent', key_id, '--out', at('mine.json')]);
    const signed = await tally(['countersign', at('mine.json'), '--role', 'requester', '--key', key]);
    const { stdout } = await tally(['verify', '-', '--json'], { input: signed.stdout });
    expect(JSON.parse(stdout).checks).toContainEqual({
      name: 'signature_requester',
      ok: true,
      detail: `${key_id} signed exactly these contents.`,
    });
    const registered = await withService(['keys', 'register', '--handle', 'acme', '--key', key]);
    expect(registered).toMatchObject({ code: 0, stdout: `did:svc:acme  ${key_id}\n` });
    expect(await withService(['keys', 'register', '--handle', 'acme', '--key', key, '--json'])).toMatchObject(
      { code: 1, stdout: expect.stringMatching(/issuer_exists/) },
    );
  });
});
