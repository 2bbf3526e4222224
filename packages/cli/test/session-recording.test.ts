import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, serve, workspace } from './tally.ts';

const { at, home, tally, remove } = workspace();
afterAll(remove);

const keyId = (): string => JSON.parse(readFileSync(`${home}/recorder.json`, 'utf8')).key_id;
const record = (file: string, ...more: string[]) =>
  tally(['session', 'record', at(file), '--tool', 'read', ...more]);

/** A closed session whose first call has arguments and whose second has bytes that are no JSON. */
beforeAll(async () => {
  writeFileSync(at('bytes'), new Uint8Array([255, 0]));
  await tally(['session', 'new', at('s.jsonl')]);
  await record('s.jsonl', '--arguments', '{"path":"a"}', '--result', '[1]');
  await record('s.jsonl', '--arguments', `@${at('bytes')}`, '--outcome', 'denied');
  await tally(['session', 'close', at('s.jsonl')]);
  await tally(['session', 'new', at('closed.jsonl')]);
  await tally(['session', 'close', at('closed.jsonl')]);
});

describe('tally session', () => {
  test('records what verifies by the user’s own key', async () => {
    const verdict = await tally(['session', 'verify', at('s.jsonl'), '--key', keyId(), '--json']);
    expect(verdict.code).toBe(0);
    const { state, count, entries } = JSON.parse(verdict.stdout);
    expect({ state, count }).toEqual({ state: 'closed', count: 4 });
    expect(entries[1].call).toMatchObject({ tool: 'read', server: { name: 'shell' }, outcome: 'completed' });
    expect(entries[2].call).toMatchObject({ outcome: 'denied', raw: ['arguments'] });
  });

  test('prints the receipt of a call, and nothing of its values', async () => {
    const { stdout } = await record('one.jsonl', '--arguments', '{"secret":"open sesame"}');
    expect(JSON.parse(stdout)).toMatchObject({ call: { tool: 'read', session: { seq: '1' } } });
    expect(stdout).not.toContain('sesame');
    expect(readFileSync(at('one.jsonl'), 'utf8')).not.toContain('sesame');
  });

  test('opens a session in the folder of the user, and continues a closed one beside it', async () => {
    const { stdout } = await tally(['session', 'new', '--json']);
    expect(JSON.parse(stdout).file).toMatch(/\/home\/sessions\/\d{8}T\d{6}Z-[0-9a-f]{8}\.jsonl$/);
    const next = await tally(['session', 'new', at('s.jsonl'), '--json']);
    expect(JSON.parse(next.stdout).file).toBe(at('s-2.jsonl'));
    expect(next.stderr).toContain(`The session in ${at('s.jsonl')} is closed.`);
  });

  test('signs with a key file, and refuses to go on with another key', async () => {
    const made = await tally(['keys', 'generate', '--out', at('key.json')]);
    await record('own.jsonl', '--key', at('key.json'));
    const verdict = await tally(['session', 'verify', at('own.jsonl'), '--key', made.stdout.trim()]);
    expect(verdict.code).toBe(0);
    const other = await record('own.jsonl');
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('signed by another key') });
  });

  test('commands at the same time wait for each other', async () => {
    const ran = await Promise.all(Array.from({ length: 4 }, () => record('many.jsonl')));
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const { stdout } = await tally(['session', 'verify', at('many.jsonl'), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, count: 5 });
  });

  test('shows what a file says, whatever it is worth', async () => {
    const [opening = '', ...lines] = readFileSync(at('s.jsonl'), 'utf8').split('\n');
    writeFileSync(at('odd.jsonl'), [opening, '{}', ...lines].join('\n'));
    const { stdout, stderr } = await tally(['session', 'show', at('odd.jsonl')]);
    expect(stdout).toMatch(/^ {3}0 {2}\S+Z {2}opens the session [0-9a-f]{32}\n {6}Line 2 is no receipt/);
    expect(stdout).toMatch(/^ {3}1 {2}\S+Z {2}read \(shell\): completed$/m);
    expect(stderr).toContain('Nothing of this is verified yet: tally session verify');
    const shown = await tally(['session', 'show', at('odd.jsonl'), '--json']);
    expect(JSON.parse(shown.stdout)[1]).toEqual({ line: 2, unreadable: true });
  });

  test.each([
    ['a value that is no JSON', ['record', 's.jsonl', '--tool', 'x', '--arguments', '{'], '--arguments: '],
    ['a session that is closed', ['close', 'closed.jsonl'], 'holds no open session'],
    ['no session at all', ['close', 'nowhere.jsonl'], 'holds no open session'],
    ['an open session', ['new', 'one.jsonl'], 'holds an open session'],
    [
      'a value of the opening',
      ['open', 's.jsonl', '0', 'arguments', '--value', 'bytes'],
      'no receipt of a tool',
    ],
  ])('refuses %s', async (_, [command = '', file = '', ...more], said) => {
    const paths = more.map((word) => (word === 'bytes' ? at(word) : word));
    const refused = await tally(['session', command, at(file), ...paths]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  });
});

describe('tally session open', () => {
  test('opens one value, which anybody can check', async () => {
    writeFileSync(at('value.json'), '{ "path": "a" }');
    const open = (...words: string[]) => tally(['session', 'open', at('s.jsonl'), ...words]);
    await open('1', 'arguments', '--value', at('value.json'), '--out', at('opening.json'));
    const { stdout: bytes } = await open('2', 'arguments', '--value', at('bytes'));
    writeFileSync(at('opening-2.json'), bytes);
    const verify = (...files: string[]) =>
      tally(['session', 'verify', at('s.jsonl'), '--key', keyId(), '--quiet', '--opening', ...files]);
    const both = await verify(at('opening.json'), at('opening-2.json'));
    expect(both.code).toBe(0);
    expect(both.stdout).toContain(`✓ ${at('opening.json')}: the arguments of number 1`);
    expect(both.stdout).toContain(`✓ ${at('opening-2.json')}: the arguments of number 2`);
    const document = JSON.parse(readFileSync(at('opening.json'), 'utf8'));
    writeFileSync(at('false.json'), JSON.stringify({ ...document, json: { path: 'b' } }));
    expect(await verify(at('false.json'))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('has another value'),
    });
    writeFileSync(at('foreign.json'), JSON.stringify({ ...document, session_id: '0'.repeat(32) }));
    expect(await verify(at('foreign.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was not given'),
    });
    writeFileSync(at('none.json'), '{}');
    expect((await verify(at('none.json'))).code).toBe(2);
  });

  test('refuses a value that was not recorded', async () => {
    writeFileSync(at('other.json'), '{"path":"b"}');
    const words = ['session', 'open', at('s.jsonl'), '1', 'arguments', '--value', at('other.json')];
    expect(await tally(words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not the value'),
    });
  });
});

describe('tally session verify of a URL', () => {
  let server: Server;
  let url: string;
  const asked: { path: string; authorization: string | undefined }[] = [];
  const answer = ({ url: path = '', headers }: IncomingMessage, response: ServerResponse): void => {
    asked.push({ path, authorization: headers.authorization });
    if (path === '/endless') {
      const block = Buffer.alloc(1024 * 1024, 0x20);
      const more = (): void => void (response.destroyed || response.write(block, more));
      more();
    } else if (path === '/moved') response.writeHead(302, { location: '/s' }).end();
    else if (path === '/s') response.end(readFileSync(at('s.jsonl')));
    else response.writeHead(404).end();
  };
  beforeAll(async () => {
    server = createServer(answer);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  const verify = (address: string, ...more: string[]) =>
    tally(['session', 'verify', address, '--key', keyId(), ...more], {
      env: { TALLY_API_KEY: 'k_pro_secret' },
    });

  test('judges what it fetches, and gives the API key to its service only', async () => {
    expect(await verify(`${url}/s`)).toMatchObject({ code: 0 });
    expect(await verify(`${url}/s`, '--url', url)).toMatchObject({ code: 0 });
    expect(asked.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer k_pro_secret']);
  });

  test.each([
    ['/nowhere', 'unavailable', 'status 404'],
    ['/moved', 'unavailable', 'can’t be fetched'],
    ['/endless', 'body_too_large', 'larger than 64 MiB'],
  ])('%s: %s', async (path, code, said) => {
    const { stderr } = await verify(`${url}${path}`);
    expect(stderr).toContain(`(${code})`);
    expect(stderr.replaceAll("'", '’')).toContain(said);
  });

  test.each(['ftp://127.0.0.1/s', 'file:///etc/passwd', 'http://me:secret@127.0.0.1/s'])(
    'refuses %s',
    async (address) => {
      expect(await verify(address)).toMatchObject({ code: 2 });
    },
  );
});

describe('tally session at a service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve(at('data'), { env: { TALLY_DEVNET: 'on', TALLY_ANCHOR_PERIOD_SECONDS: '1' } });
  });
  afterAll(() => service.stop());

  test('has the service sign, which anybody can fetch the session from that has the API key', async () => {
    const { stdout: apiKey } = await tally(['apikey', 'create', '--tier', 'pro'], { env: service.env });
    const env = { TALLY_API_KEY: apiKey.trim() };
    const signer = ['--url', service.url];
    const words = ['session', 'record', at('signed.jsonl'), '--tool', 'read', '--arguments', '{"path":"a"}'];
    for (let call = 0; call < 2; call++)
      expect(await tally([...words, ...signer], { env })).toMatchObject({ code: 0, stderr: '' });
    expect((await tally(['session', 'close', at('signed.jsonl'), ...signer], { env })).code).toBe(0);
    await tally(['trust', 'fetch'], { env: service.env });
    const file = await tally(['session', 'verify', at('signed.jsonl'), '--json']);
    expect(file.code).toBe(0);
    const { id, recorder, state, count } = JSON.parse(file.stdout);
    expect({ by: recorder.by, state, count }).toEqual({ by: 'service', state: 'closed', count: 4 });
    const fetched = await tally(['session', 'verify', `${service.url}/v1/sessions/${id}`, ...signer], {
      env,
    });
    expect(fetched).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✓ Valid: closed, 4 receipts'),
    });
    const nobody = await tally(['session', 'verify', `${service.url}/v1/sessions/${id}`, ...signer]);
    expect(nobody.code).toBe(1);
  });

  test('puts the proof into the newest receipt', async () => {
    const { stdout: apiKey } = await tally(['apikey', 'create', '--tier', 'pro'], { env: service.env });
    const env = { ...service.env, TALLY_API_KEY: apiKey.trim() };
    await record('kept.jsonl');
    const anchored = await tally(['session', 'anchor', at('kept.jsonl'), '--json'], { env });
    expect(JSON.parse(anchored.stdout)).toMatchObject({ seq: 1, sha256: expect.stringMatching(/^sha256:/) });
    await record('kept.jsonl');
    await tally(['trust', 'fetch'], { env });
    const verdict = await tally(['session', 'verify', at('kept.jsonl'), '--json'], { env });
    expect(JSON.parse(verdict.stdout)).toMatchObject({ valid: true, count: 3, anchored_up_to: 1 });
  });
});
