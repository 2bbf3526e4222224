import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { witnessKey as verifierKeyOf } from '@tallystick/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, clean, type Ran, type Service, serve, until, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let witness: ChildProcess;
let witnessKey: string;
let mlDsaKey: string;
let logKey: string;
let witnessUrl: string;
let apiKey: string;

const start = (witnesses?: string): Promise<Service> =>
  serve(at('data'), witnesses === undefined ? {} : { env: { TALLY_WITNESSES: witnesses } });
const statusOf = async ({ url }: Service) => (await fetch(`${url}/v1/log`)).json();
const checkpointOf = async ({ url }: Service): Promise<string> => (await fetch(`${url}/checkpoint`)).text();
const sizeIn = (checkpoint: string): number => Number(checkpoint.split('\n')[1]);
const anchor = (service: Service, hex: string): Promise<Ran> =>
  tally(['anchor', '--sha256', hex.padEnd(64, '0')], { env: { ...service.env, TALLY_API_KEY: apiKey } });
const fsck = async (service: Service) => {
  const { code, stdout, stderr } = await tally(['log', 'fsck', '--json'], { env: service.env });
  return { code, stderr, report: JSON.parse(stdout) };
};

const standings = (report: { witnesses: readonly { name: string; standing: string }[] }) =>
  Object.fromEntries(report.witnesses.map(({ name, standing }) => [name, standing]));

/** A log of one leaf, and a witness of it that runs. */
beforeAll(async () => {
  const service = await start();
  apiKey = (await tally(['apikey', 'create', '--tier', 'pro'], { env: service.env })).stdout.trim();
  await anchor(service, 'a');
  await until(
    () => checkpointOf(service),
    (note) => sizeIn(note) === 1 && note.split('\n— local-witness-').length === 3,
  );
  const { stdout } = await tally(['anchor', 'status', '--json'], { env: service.env });
  logKey = JSON.parse(stdout).verifier_key;
  await service.stop();
  await tally(['keys', 'generate', '--out', at('witness.json')]);
  const command = 'log witness --name witness.example --listen 127.0.0.1:0 --ml-dsa --json'.split(' ');
  const files = ['--key', at('witness.json'), '--state', at('witness.state')];
  witness = spawn(process.execPath, [bin, ...command, ...files, '--log', logKey], {
    env: clean,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (witness.stdout === null) throw new Error('The witness has no standard output.');
  let text = '';
  for await (const line of createInterface(witness.stdout)) {
    text += line;
    if (line === '}') break;
  }
  ({ verifier_key: witnessKey, ml_dsa_verifier_key: mlDsaKey, url: witnessUrl } = JSON.parse(text));
});
test('a witness whose port is taken says which option to change', async () => {
  const address = new URL(witnessUrl).host;
  const files = ['--key', at('witness.json'), '--state', at('other.state')];
  const taken = await tally([
    'log',
    'witness',
    '--name',
    'w.example',
    '--listen',
    address,
    ...files,
    '--log',
    logKey,
  ]);
  expect(taken.code).not.toBe(0);
  expect(taken.stderr).toContain('choose another with --listen');
});

afterAll(async () => {
  witness.kill('SIGTERM');
  await once(witness, 'exit');
  remove();
});

test('a witness that has left the configuration is asked no more, and its cosignatures stay checkable', async () => {
  const witnessed = await start(`${witnessKey} ${witnessUrl}`);
  await anchor(witnessed, 'b');
  const cosigned = await until(
    () => checkpointOf(witnessed),
    (note) => sizeIn(note) === 2 && note.includes('— witness.example '),
  );
  expect(cosigned).toMatch(/^— witness\.example \S+$/m);
  // The development log had two witnesses of its own before.
  expect(standings((await fsck(witnessed)).report)).toEqual({
    'local-witness-1': 'former',
    'local-witness-2': 'former',
    'witness.example': 'configured',
  });
  await witnessed.stop();
  const seen = readFileSync(at('witness.state'), 'utf8');

  const later = await start();
  await anchor(later, 'c');
  const alone = await until(
    () => checkpointOf(later),
    (note) => sizeIn(note) === 3,
  );
  expect(alone).not.toContain('witness.example');
  expect(readFileSync(at('witness.state'), 'utf8')).toBe(seen);
  const { code, stderr, report } = await fsck(later);
  expect({ code, stderr, report }).toMatchObject({
    code: 0,
    stderr: '',
    report: {
      ok: true,
      faults: [],
      witnesses: expect.arrayContaining([
        expect.objectContaining({ name: 'witness.example', standing: 'former', newest: 2 }),
      ]),
    },
  });
  expect(standings(report)['local-witness-1']).toBe('configured');
  const { stdout } = await tally(['log', 'fsck'], { env: later.env });
  expect(stdout).toMatch(
    /^– witness\.example \(a former witness\) cosigned \d checkpoints?, the newest of 2 leaves\.\n✓ Sound: /m,
  );
  await later.stop();
});

test('a witness cosigns by ML-DSA-44 too, and policies count both', async () => {
  const witnessed = await start(`${witnessKey} ${witnessUrl}, ${mlDsaKey} ${witnessUrl}`);
  await anchor(witnessed, 'd');
  const cosigned = await until(
    () => checkpointOf(witnessed),
    (note) => sizeIn(note) === 4 && note.split('\n— witness.example ').length === 3,
  );
  const lengths = [...cosigned.matchAll(/^— witness\.example (\S+)$/gm)].map(
    ([, line = '']) => Buffer.from(line, 'base64').length,
  );
  // The key's id and the time, then the signature.
  expect(new Set(lengths)).toEqual(new Set([4 + 8 + 64, 4 + 8 + 2420]));
  expect(await statusOf(witnessed)).toMatchObject({ witnesses: [witnessKey, mlDsaKey] });

  const look = async (name: string, key: string) => {
    const policy = [
      `log ${logKey}`,
      `witness a ${witnessKey}`,
      `witness q ${key}`,
      'group g all a q',
      'quorum g',
    ];
    writeFileSync(at(name), `${policy.join('\n')}\n`);
    const command = ['log', 'monitor', '--url', witnessed.url, '--vkey', logKey, '--once', '--json'];
    const { code, stdout } = await tally([
      ...command,
      '--state',
      at(`${name}.seen`),
      '--witness-policy',
      at(name),
    ]);
    return { code, witnessed: JSON.parse(stdout).witnessed };
  };
  expect(await look('both.txt', mlDsaKey)).toEqual({
    code: 0,
    witnessed: { required: 2, satisfied: true, by: ['a', 'q'], of: 2 },
  });
  const { publicKey } = ml_dsa44.keygen(new Uint8Array(32));
  expect(await look('stranger.txt', verifierKeyOf('witness.example', publicKey))).toEqual({
    code: 3,
    witnessed: { required: 2, satisfied: false, by: ['a'], of: 2 },
  });
  expect(await fsck(witnessed)).toMatchObject({ code: 0, report: { ok: true, faults: [] } });
  await witnessed.stop();
});
