import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { toBase64url } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyring, type Keyring, rotateKey, withApiKeySecret } from './keyring.ts';
import { changeKeyring, readKeyring, writeKeyring } from './keyring-file.ts';
import { noRemoteKeys } from './remote/remote-key.ts';

const PASSPHRASE = 'correct horse battery staple';
const folder = mkdtempSync(join(tmpdir(), 'tally-keyring-'));
afterAll(() => rmSync(folder, { recursive: true }));

let keyring: Keyring;
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}`, 'keyring.json');

beforeAll(async () => {
  keyring = await createKeyring('local', Date.UTC(2027, 2, 1));
});

describe.each([
  ['in the clear', null],
  ['encrypted', PASSPHRASE],
])('a keyring %s', (_, passphrase) => {
  it('reads back as it was written, and only its owner can', async () => {
    const path = newPath();
    writeKeyring(path, keyring, passphrase);
    expect(await readKeyring(path, passphrase)).toEqual(keyring);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    const next = await rotateKey(keyring, 'receipt', Date.UTC(2027, 2, 2));
    chmodSync(path, 0o644);
    writeKeyring(path, next, passphrase);
    expect(await readKeyring(path, passphrase)).toEqual(next);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, '..'))).toEqual(['keyring.json']);
  });

  it('stays as it was where there is no room for all of a new one', async () => {
    const path = newPath();
    writeKeyring(path, keyring, passphrase);
    const before = readFileSync(path, 'utf8');
    const code = `const { readKeyring, writeKeyring } = await import(process.argv[1]);
      const [path, passphrase = null] = process.argv.slice(2);
      writeKeyring(path, await readKeyring(path, passphrase), passphrase);`;
    // No file gets more than 512 or 1,024 bytes, as on a disk that is almost full.
    const limited = `trap '' XFSZ; ulimit -f 1; exec "$0" --input-type=module --eval "$@"`;
    const args = [
      code,
      new URL('keyring-file.ts', import.meta.url).href,
      path,
      ...(passphrase ? [passphrase] : []),
    ];
    await expect(promisify(execFile)('sh', ['-c', limited, process.execPath, ...args])).rejects.toThrow(
      /EFBIG/,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(dirname(path))).toEqual(['keyring.json']);
  });

  it('may be one of before there were API keys', async () => {
    const path = newPath();
    const older = { ...keyring, apiKeySecret: null };
    writeKeyring(path, older, passphrase);
    expect(readFileSync(path, 'utf8')).not.toContain('api_key');
    expect(await readKeyring(path, passphrase)).toEqual(older);
  });

  it('is refused when a key, its purpose or the history was changed', async () => {
    const path = newPath();
    writeKeyring(path, keyring, passphrase);
    const text = readFileSync(path, 'utf8');
    const [one, other] = [keyring.keys[0]?.keyId ?? '', keyring.keys[1]?.keyId ?? ''];
    const document = JSON.parse(text) as { keys: [{ secret: string }, { secret: string }] };
    const [first, second] = document.keys;
    const swapped = {
      ...document,
      keys: [
        { ...first, secret: second.secret },
        { ...second, secret: first.secret },
      ],
    };
    for (const changed of [
      JSON.stringify(swapped),
      text.replace('"status":"verified"', '"status":"verified","more":1'),
      text.replace('"state":"active"', '"state":"retired"'),
      text.replace(`"key_id":"${one}","purpose"`, `"key_id":"${other}","purpose"`),
      text.replace('tally-keyring-v1', 'tally-keyring-v2'),
      text.replace(/"api_key_secret":"[^"]+"/, '"api_key_secret":7'),
      text.replace(/"api_key_secret":"[^"]+"/, `"api_key_secret":"${first.secret.slice(1)}"`),
      text.slice(0, 200),
      '{}',
    ]) {
      expect(changed).not.toBe(text);
      writeFileSync(path, changed);
      await expect(readKeyring(path, passphrase), changed.slice(0, 80)).rejects.toMatchObject({
        name: 'TallyError',
      });
    }
  });
});

describe('the passphrase', () => {
  it('keeps the secrets out of the file', () => {
    const [clear, sealed] = [newPath(), newPath()];
    writeKeyring(clear, keyring, null);
    writeKeyring(sealed, keyring, PASSPHRASE);
    const secrets = [
      ...keyring.keys.flatMap((key) => ('secret' in key ? [key.secret] : [])),
      withApiKeySecret(keyring).apiKeySecret,
    ];
    const holds = (path: string) =>
      secrets.filter((secret) => readFileSync(path, 'utf8').includes(toBase64url(secret))).length;
    expect(holds(clear)).toBe(keyring.keys.length + 1);
    expect(holds(sealed)).toBe(0);
  });

  it('is told to be wrong, or missing', async () => {
    const path = newPath();
    writeKeyring(path, keyring, PASSPHRASE);
    await expect(readKeyring(path, 'guess')).rejects.toThrow('The passphrase of the keyring is wrong.');
    await expect(readKeyring(path, '')).rejects.toThrow('The passphrase of the keyring is wrong.');
    await expect(readKeyring(path, null)).rejects.toThrow('TALLY_KEYRING_PASSPHRASE');
  });
});

it('whoever reads while it is written, or after the writer was killed, finds a whole file', async () => {
  const path = newPath();
  writeKeyring(path, keyring, null);
  const whole = readFileSync(path, 'utf8');
  const script = `
    const { readKeyring, writeKeyring } = await import(${JSON.stringify(import.meta.resolve('./keyring-file.ts'))});
    const keyring = await readKeyring(${JSON.stringify(path)}, null);
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50 + 50 * Math.random());
    const step = () => { writeKeyring(${JSON.stringify(path)}, keyring, null); setImmediate(step); };
    step();`;
  for (let round = 0; round < 2; round++) {
    const killed = new AbortController();
    const writing = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]).finally(
      () => {
        killed.abort();
      },
    );
    const seen = new Set<string>();
    const reading = (async () => {
      for (; !killed.signal.aborted; await setImmediate()) {
        for (let i = 0; i < 100; i++) seen.add(readFileSync(path, 'utf8'));
      }
    })();
    await expect(writing).rejects.toMatchObject({ signal: 'SIGKILL' });
    await reading;
    expect([...seen]).toEqual([whole]);
    expect(await readKeyring(path, null)).toEqual(keyring);
  }
});

describe('two changes of a keyring at once', () => {
  const rotation = (purpose: 'receipt' | 'status') => (read: Keyring) =>
    rotateKey(read, purpose, Date.UTC(2027, 2, 2));
  const change = (path: string, by: (read: Keyring) => Promise<Keyring>) =>
    changeKeyring(path, PASSPHRASE, noRemoteKeys, by);

  it('lose neither: the later one is refused, and may be made again', async () => {
    const path = newPath();
    writeKeyring(path, keyring, PASSPHRASE);
    let first: Keyring | null = null;
    const later = change(path, async (read) => {
      first = await change(path, rotation('receipt'));
      return rotation('status')(read);
    });
    await expect(later).rejects.toMatchObject({
      code: 'issuer_conflict',
      message: expect.stringContaining('changed nothing'),
    });
    expect(await readKeyring(path, PASSPHRASE)).toEqual(first);
    const both = await change(path, rotation('status'));
    expect(await readKeyring(path, PASSPHRASE)).toEqual(both);
    expect(
      both.document.history.map(({ statement }) => [statement.action, statement.purpose]).slice(-4),
    ).toEqual([
      ['add_key', 'receipt'],
      ['retire_key', 'receipt'],
      ['add_key', 'status'],
      ['retire_key', 'receipt'],
    ]);
    expect(readdirSync(dirname(path))).toEqual(['keyring.json']);
  });

  it('are refused while one is written, with the file that says so', async () => {
    const path = newPath();
    writeKeyring(path, keyring, PASSPHRASE);
    writeFileSync(`${path}.lock`, '');
    await expect(change(path, rotation('receipt'))).rejects.toMatchObject({
      code: 'issuer_conflict',
      message: expect.stringContaining(`remove ${path}.lock`),
    });
    expect(await readKeyring(path, PASSPHRASE)).toEqual(keyring);
  });
});

it('the first of several writers at once wins', async () => {
  const path = newPath();
  const script = (number: number) => `
    const { writeFirstKeyring } = await import(${JSON.stringify(import.meta.resolve('./keyring-file.ts'))});
    const { createKeyring } = await import(${JSON.stringify(import.meta.resolve('./keyring.ts'))});
    writeFirstKeyring(${JSON.stringify(path)}, await createKeyring('writer-${number}', 0), null);
    const { readFileSync } = await import('node:fs');
    process.stdout.write(readFileSync(${JSON.stringify(path)}, 'utf8'));`;
  const run = (number: number) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(number)]);
  const found = await Promise.all([1, 2, 3, 4].map(run));
  expect(new Set(found.map(({ stdout }) => stdout))).toEqual(new Set([readFileSync(path, 'utf8')]));
  expect(readdirSync(join(path, '..'))).toEqual(['keyring.json']);
});

describe.skipIf(process.getuid?.() !== 0)('where the test runs as root, a keyring of another user', () => {
  const SERVICE = 64_123;
  /** Runs a script as the user of the service; resolves to what it prints. */
  const asService = async (script: string): Promise<string> => {
    const module = import.meta.resolve('./keyring-file.ts');
    const code = `const { readKeyring, writeKeyring } = await import(${JSON.stringify(module)});${script}`;
    const options = { uid: SERVICE, gid: SERVICE };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', code],
      options,
    );
    return stdout.trim();
  };
  const reading = (path: string): string =>
    `await readKeyring(${JSON.stringify(path)}, null).then(() => console.log('read'), (e) => console.log(e.code, e.message));`;

  it('keeps its owner and group when root writes it anew', async () => {
    const path = newPath();
    writeKeyring(path, keyring, null);
    chmodSync(folder, 0o755);
    chownSync(dirname(path), SERVICE, SERVICE);
    chownSync(path, SERVICE, SERVICE + 1);
    writeKeyring(path, await rotateKey(keyring, 'receipt', Date.UTC(2027, 2, 2)), null);
    expect(statSync(path)).toMatchObject({ uid: SERVICE, gid: SERVICE + 1 });
    expect(await asService(reading(path))).toBe('read');
  });

  it('is left unchanged by a user who can’t give it back, and told to be another’s', async () => {
    const path = newPath();
    writeKeyring(path, keyring, null);
    chmodSync(folder, 0o755);
    chownSync(dirname(path), SERVICE, SERVICE);
    expect(await asService(reading(path))).toBe(
      `unavailable The keyring ${path} belongs to the user 0, and this process runs as the user ${SERVICE}, who may not read it. The user that runs the service must own it: run this as the user 0, or give it the file with chown ${SERVICE} ${path}`,
    );
    chmodSync(path, 0o644);
    const before = readFileSync(path, 'utf8');
    const told = await asService(
      `const path = ${JSON.stringify(path)};
       const keyring = await readKeyring(path, null);
       try { writeKeyring(path, keyring, null) } catch (e) { console.log(e.code, e.message) }`,
    );
    expect(told).toMatch(
      /^unavailable The keyring .* was left unchanged: it belongs to the user 0 and the group 0/,
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(dirname(path))).toEqual(['keyring.json']);
  });
});
