import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, test } from 'vitest';
import { checkConfig } from './config.ts';

const VECTORS = fileURLToPath(new URL('../../../../spec/vectors/attestation', import.meta.url));
// NVIDIA's certificates have no end; those of the others do.
const GENUINE = 'nvidia:sha256:cea50a20d2261b339c3090c889c9af37b0f5ce8f58f74420d5a971b93e3a8f96';
const DEBUG = 'nitro:sha256:883eaa6cbccb1a173608cc0382199c22ac724203a773e8daa3fedc6d5d7152b9';

const folder = mkdtempSync(join(tmpdir(), 'tally-attestations-'));
afterAll(() => rmSync(folder, { recursive: true }));

const check = (env: NodeJS.ProcessEnv) =>
  checkConfig({ TALLY_DATA_DIR: folder, TALLY_ATTESTATION_DIR: VECTORS, ...env });

it('claims what there is genuine evidence of', () => {
  const { config, faults } = check({ TALLY_HARDWARE_ATTESTATION: GENUINE });
  expect(faults).toEqual([]);
  expect(config.operator.attestation).toBe(GENUINE);
  expect(config.attestations.get(GENUINE.slice(-64))).toBe(join(VECTORS, 'nvidia.json'));
});

test.each([
  [
    'a hash without a file',
    GENUINE.replace('cea5', 'cea6'),
    /evidence that is in no file of .*nothing is claimed\.$/,
  ],
  ['evidence of a debugged machine', DEBUG, /nitro-debug\.bin, which is not genuine\. debug: /],
  [
    'evidence of another type',
    GENUINE.replace('nvidia', 'tdx'),
    /is not what .*nvidia\.json is: nvidia:sha256:/,
  ],
  ['a type that is not known', GENUINE.replace('nvidia', 'abacus'), /is not what .*nvidia\.json is/],
])('%s is a fault', (_, attestation, fault) => {
  const { faults } = check({ TALLY_HARDWARE_ATTESTATION: attestation });
  expect(faults).toEqual([expect.stringMatching(fault)]);
  expect(faults[0]).toMatch(/^TALLY_HARDWARE_ATTESTATION /);
});

it('judges what a model of the configuration file claims', () => {
  const path = join(folder, 'config.json');
  const models = (attestation: string) => [{ id: 'local/extract-1', attestation }];
  writeFileSync(path, JSON.stringify({ models: models(GENUINE) }));
  expect(check({ TALLY_CONFIG: path }).faults).toEqual([]);
  writeFileSync(path, JSON.stringify({ models: models(DEBUG) }));
  expect(check({ TALLY_CONFIG: path }).faults).toEqual([
    expect.stringMatching(/config\.json: attestation of the model local\/extract-1 names .*not genuine/),
  ]);
});

const file = join(folder, 'file');
writeFileSync(file, '');

test.each([
  ['of the data directory', folder],
  ['where the data directory can’t be made either, which is told later', join(file, 'data')],
])('needs no folder %s where nothing is claimed', (_, dataDir) => {
  const { config, faults } = checkConfig({ TALLY_DATA_DIR: dataDir });
  expect(faults).toEqual([]);
  expect(config.attestations.size).toBe(0);
});

test.each([
  ['is none', file],
  ['is not there', join(folder, 'nowhere')],
])('says that a folder that is named %s', (_, path) => {
  expect(check({ TALLY_ATTESTATION_DIR: path }).faults).toEqual([
    expect.stringMatching(/^TALLY_ATTESTATION_DIR names .*, which can't be read/),
  ]);
});

it('passes over a file that is too large', () => {
  const large = mkdtempSync(join(folder, 'large-'));
  writeFileSync(join(large, 'a'), Buffer.alloc(3 * 1024 * 1024));
  writeFileSync(join(large, 'b'), 'small');
  const { config, faults } = check({ TALLY_ATTESTATION_DIR: large });
  expect(faults).toEqual([]);
  expect([...config.attestations.values()]).toEqual([join(large, 'b')]);
});

it('needs a file that can’t be read only for what nothing else is evidence of', () => {
  const some = mkdtempSync(join(folder, 'some-'));
  symlinkSync(join(some, 'nowhere'), join(some, 'a'));
  symlinkSync(join(VECTORS, 'nvidia.json'), join(some, 'b'));
  const faultsOf = (attestation: string) =>
    check({ TALLY_ATTESTATION_DIR: some, TALLY_HARDWARE_ATTESTATION: attestation }).faults;
  expect(faultsOf(GENUINE)).toEqual([]);
  expect(faultsOf(DEBUG)).toEqual([
    expect.stringMatching(/^TALLY_HARDWARE_ATTESTATION .*, of which a can't be read\. Put it there/),
  ]);
});
