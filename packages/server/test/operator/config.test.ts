import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
afterAll(remove);

test('every fault of the file and of the environment at once, and exit status 1', async () => {
  writeFileSync(at('faulty.json'), '{"settings": {"PORT": "80", "TALLY_HANDLES": "a"}, "model": []}');
  const { code, stdout } = await tally(['config', 'check', at('faulty.json')], {
    env: { TALLY_LOG_LEVEL: 'loud' },
  });
  expect(code).toBe(1);
  for (const expected of [
    /^PORT in/m,
    /^TALLY_HANDLES in/m,
    /^TALLY_LOG_LEVEL is/m,
    /faulty\.json: .*model/m,
    /^4 faults$/m,
  ])
    expect(stdout).toMatch(expected);
});

test('the effective configuration without secrets, and exit status 0', async () => {
  writeFileSync(at('sound.json'), '{"settings": {"PORT": 9000, "TALLY_REGION": "eu-1"}}');
  const env = { TALLY_CONFIG: at('sound.json'), PORT: '9001', TALLY_KEYRING_PASSPHRASE: 'hunter2' };
  const printed = await tally(['config', 'check', '--print'], { env });
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  const lines = printed.stdout.split('\n');
  expect(lines).toContain('PORT=9001  (environment)');
  expect(lines).toContain('TALLY_REGION=eu-1  (file)');
  expect(lines).toContain('TALLY_LOG_LEVEL=warn  (default)');
  expect(lines).toContain('TALLY_KEYRING_PASSPHRASE=(secret)  (environment)');
  const { stdout } = await tally(['config', 'check', '--print', '--json'], { env });
  const { faults, settings } = JSON.parse(stdout);
  expect(faults).toEqual([]);
  expect(settings).toContainEqual({ name: 'PORT', value: '9001', from: 'environment' });
  expect(printed.stdout + stdout).not.toContain('hunter2');
});

test('no credentials of URLs, and no faulty value', async () => {
  const env = {
    OPENAI_BASE_URL: 'https://me:hunter2@models.example.com/v1',
    TALLY_API_URL: 'https://me:hunter2@api.example.com',
    TALLY_LOG_LEVEL: 'loud',
    TALLY_WITNESSES: 'w https://me:hunter2@witness.example.com/w?token=hunter2',
    AWS_ENDPOINT_URL_KMS: 'https://me:hunter2@kms.example.com/v1?token=hunter2#hunter2',
  };
  const { stdout } = await tally(['config', 'check', '--print'], { env });
  const lines = stdout.split('\n');
  expect(lines).toContain('OPENAI_BASE_URL=(faulty)  (environment)');
  expect(lines).toContain('TALLY_LOG_LEVEL=(faulty)  (environment)');
  expect(lines).toContain('AWS_ENDPOINT_URL_KMS=https://kms.example.com/v1  (environment)');
  const json = await tally(['config', 'check', '--print', '--json'], { env });
  expect(stdout + json.stdout).not.toContain('hunter2');
});
