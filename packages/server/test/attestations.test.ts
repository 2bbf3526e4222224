import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectProblem, startTestService, type TestService } from './service.ts';

const EVIDENCE = new URL('../../../spec/vectors/attestation/nvidia.json', import.meta.url);
const bytes = readFileSync(EVIDENCE);
const hash = createHash('sha256').update(bytes).digest('hex');
const attestation = `nvidia:sha256:${hash}`;

const folder = mkdtempSync(join(tmpdir(), 'tally-evidence-'));
let service: TestService;

beforeAll(async () => {
  mkdirSync(join(folder, 'a folder'));
  copyFileSync(EVIDENCE, join(folder, 'gpu.json'));
  writeFileSync(join(folder, 'earlier.bin'), 'evidence of an earlier day');
  service = await startTestService({
    env: { TALLY_HARDWARE_ATTESTATION: attestation, TALLY_ATTESTATION_DIR: folder },
  });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const read = async (name: string): Promise<Response> => service.app.request(`/v1/attestations/${name}`);

it('keeps the evidence beside the receipts that name it', async () => {
  const { json } = await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' });
  expect(json['hardware']).toEqual({ class: null, attestation });
  const answer = await read(hash);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/octet-stream');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

it('keeps evidence that earlier receipts name', async () => {
  const earlier = createHash('sha256').update('evidence of an earlier day').digest('hex');
  expect(await (await read(earlier)).text()).toBe('evidence of an earlier day');
});

it('has none but by its hash, and none that has changed', async () => {
  expectProblem(await service.get(`/v1/attestations/${'0'.repeat(64)}`), 'not_found');
  expectProblem(await service.get('/v1/attestations/gpu.json'), 'invalid_field', 'sha256');
  expectProblem(await service.get(`/v1/attestations/${hash.toUpperCase()}`), 'invalid_field', 'sha256');
  const earlier = createHash('sha256').update('evidence of an earlier day').digest('hex');
  writeFileSync(join(folder, 'earlier.bin'), 'something else');
  const gone = await read(earlier);
  expect(gone.status).toBe(404);
  expect(gone.headers.get('cache-control')).toBe('no-store');
});
