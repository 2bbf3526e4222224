import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, clean, type Ran, type Service, serve, until, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let witness: ChildProcess;
let witnessKey: string;
let witnessUrl: string;
let apiKey: string;

const start = (witnesses?: string): Promise<Service> =>
  serve(at('data'), witnesses === undefined ? {} : { env: { TALLY_WITNESSES: witnesses } });
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
  await service.stop();
  await tally(['keys', 'generate', '--out', at('witness.json')]);
  const command = 'log witness --name witness.example --listen 127.0.0.1:0 --json'.split(' ');
  const files = ['--key', at('witness.json'), '--state', at('witness.state')];
  witness = spawn(process.execPath, [bin, ...command, ...files, '--log', JSON.parse(stdout).verifier_key], {
    env: clean,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (witness.stdout === null) throw new Error('The witness has no standard output.');
  let text = '';
  for await (const line of createInterface(witness.stdout)) {
    text += line;
    if (line === '}') break;
  }
  ({ verifier_key: witnessKey, url: witnessUrl } = JSON.parse(text));
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
