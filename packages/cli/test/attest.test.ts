import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { publicKeyOfDidKey } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from './tally.ts';

const VECTORS = fileURLToPath(new URL('../../../spec/vectors/attestation/', import.meta.url));
const GENUINE = 'nvidia:sha256:cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96';

const { at, tally, remove } = workspace();
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'), {
    env: { TALLY_HARDWARE_ATTESTATION: GENUINE, TALLY_ATTESTATION_DIR: VECTORS },
  });
  const minted = await tally(['mint', '--text', 'hello'], { env: service.env });
  writeFileSync(at('receipt.json'), minted.stdout);
  const nano = await tally(['emit', '--text', 'hello', '--profile', 'nano'], { env: service.env });
  writeFileSync(at('nano.json'), nano.stdout);
});
afterAll(async () => {
  await service.stop();
  remove();
});

const attest = (...args: string[]): Promise<Ran> => tally(['attest', 'verify', ...args]);

describe('tally attest verify', () => {
  test.each([
    ['sev-snp.bin', 0, '✓ Genuine: sev-snp:sha256:'],
    ['tdx.bin', 0, '✓ Genuine: tdx:sha256:'],
    ['nvidia.json', 0, `✓ Genuine: ${GENUINE}`],
    ['sev-snp-debug.bin', 1, '✗ Not genuine: debug: The machine is in debug mode'],
    ['nitro-debug.bin', 1, '✗ Not genuine: debug: The machine is in debug mode'],
    ['README.md', 1, '✗ Not genuine: '],
  ])('%s', async (file, code, headline) => {
    // The certificates of AMD and Intel have an end.
    const ran = await attest(`${VECTORS}${file}`, '--at', '2026-06-01T00:00:00Z');
    expect(ran).toMatchObject({ code, stderr: '' });
    expect(ran.stdout.startsWith(headline)).toBe(true);
  });

  test('the evidence of a receipt, as the service hands it out', async () => {
    const hash = GENUINE.slice(-64);
    const evidence = await fetch(`${service.url}/v1/attestations/${hash}`);
    writeFileSync(at('evidence'), Buffer.from(await evidence.arrayBuffer()));
    const ran = await attest(at('evidence'), '--receipt', at('receipt.json'));
    expect(ran.code).toBe(3);
    expect(ran.stdout).toMatch(/^○ Genuine, but not bound: the evidence does not name the key/);
    expect(ran.stdout).toMatch(/✓ receipt +The receipt names this evidence\./);
    expect(ran.stdout).toMatch(/– key +The machine does not name the key that signed the receipt/);
  });

  test('other evidence than that of the receipt, and a receipt without any', async () => {
    const other = await attest(
      `${VECTORS}tdx.bin`,
      '--receipt',
      at('receipt.json'),
      '--at',
      '2026-06-01T00:00:00Z',
    );
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(
      /^✗ Genuine, but not what was expected: receipt: The receipt names nvidia:sha256:cea5/,
    );
    const none = await attest(`${VECTORS}nvidia.json`, '--receipt', at('nano.json'));
    expect(none.code).toBe(1);
    expect(none.stdout).toMatch(
      /^✗ Genuine, but not what was expected: receipt: The receipt names no evidence\./,
    );
  });

  test('a receipt that was changed', async () => {
    const changed = readFileSync(at('receipt.json'), 'utf8').replace('"purpose":"', '"purpose":"x');
    writeFileSync(at('changed.json'), changed);
    const ran = await attest(`${VECTORS}nvidia.json`, '--receipt', at('changed.json'));
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/changed\.json: The receipt is not intact/);
  });

  test('what is expected of it', async () => {
    const nonce = '931d8dd0add203ac3d8b4fbde75e115278eefcdceac5b87671a748f32364dfcb';
    const file = `${VECTORS}nvidia.json`;
    expect(await attest(file, '--report-data', nonce)).toMatchObject({ code: 0 });
    expect(await attest(file, '--report-data', '00')).toMatchObject({ code: 1 });
    expect(await attest(file, '--measurement', 'abcd')).toMatchObject({ code: 1 });
    expect((await attest(file, '--measurement', 'xyz')).stderr).toMatch(/--measurement takes bytes in hex/);
    expect((await attest(file, '--at', 'soon')).stderr).toMatch(/--at takes a UTC time/);
    expect(await attest('-', '--receipt', '-')).toMatchObject({ code: 2 });
  });

  test('as JSON', async () => {
    const { code, stdout } = await attest(`${VECTORS}nitro-debug.bin`, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      genuine: false,
      bound: null,
      type: 'nitro',
      statements: [
        { debug: true, movable: null, level: null, report_data: null, made_at: '2021-03-05T17:01:49.526Z' },
      ],
      checks: expect.arrayContaining([{ name: 'debug', ok: false, detail: expect.any(String) }]),
    });
    const none = await tally(['attest', 'verify', '-', '--json'], { input: 'x' });
    expect(JSON.parse(none.stdout)).toMatchObject({ genuine: false, error: { code: 'attestation_invalid' } });
  });
});

describe('tally attest report-data', () => {
  test('is the SHA-256 of the key, then zeros', async () => {
    const { stdout } = await tally(['keys', 'generate', '--out', at('key.json'), '--json']);
    const { key_id } = JSON.parse(stdout) as { key_id: string };
    const hash = createHash('sha256').update(publicKeyOfDidKey(key_id)).digest('hex');
    const ran = await tally(['attest', 'report-data', key_id]);
    expect(ran).toEqual({ code: 0, stdout: `${hash}${'0'.repeat(64)}\n`, stderr: '' });
  });

  test('of what is no key', async () => {
    const ran = await tally(['attest', 'report-data', 'did:key:zzz']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  });
});
