import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openCheckpoint, parseVerifierKey, toHex } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKeyring } from '../../issuers/src/keyring.ts';
import { writeKeyring } from '../../issuers/src/keyring-file.ts';
import { openServices } from '../src/app/services.ts';
import type { Config } from '../src/config/config.ts';
import { hashOf } from './hashes.ts';
import { apiKey, expectProblem, startTestService, type TestService } from './service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { TALLY_LOG_ORIGIN: 'log.example/a' } });
});
afterAll(() => service.close());

const bytesAt = async (path: string) => {
  const response = await service.app.request(path);
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
};

/** The checkpoint, once it is of that many leaves. */
const checkpointOf = (size: number) =>
  vi.waitFor(async () => {
    const reply = await service.get('/checkpoint');
    expect([reply.status, reply.text.split('\n')[1]]).toEqual([200, String(size)]);
    return reply;
  }, 60_000);

describe('the log over HTTP', () => {
  it('has no postings without a chain, and refuses a limit that is none', async () => {
    const { status, json, headers } = await service.get('/v1/log/postings');
    expect([status, json, headers.get('cache-control')]).toEqual([
      200,
      { data: [], next_cursor: null, postings: [] },
      'no-store',
    ]);
    for (const limit of ['0', '1001', 'x']) {
      expect((await service.get(`/v1/log/postings?limit=${limit}`)).status).toBe(422);
    }
  });

  it('is there before its first hash', async () => {
    expect((await service.get('/v1/log')).json).toMatchObject({
      origin: 'log.example/a',
      accepted: 0,
      tree_size: 0,
      anchored_size: 0,
      accepting: 'ok',
      overdue_seconds: 0,
      period_seconds: 10,
      next_posting_at: '2027-03-01T12:00:10Z',
      chain: null,
      witnesses: [
        expect.stringMatching(/^local-witness-1\+[0-9a-f]{8}\+B/),
        expect.stringMatching(/^local-witness-2\+[0-9a-f]{8}\+B/),
      ],
    });
    expectProblem(await service.get('/tile/0/000'), 'not_found');
    const { text } = await checkpointOf(0);
    expect(text).toMatch(/^log\.example\/a\n0\n47DEQpj8HBSa\+\/TImW\+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— /);
  });

  it('gives checkpoint, tiles and entries that belong together, and says how long each may be kept', async () => {
    const hashes = ['a', 'b', 'c'].map(hashOf);
    const key = await apiKey(service, 'scale');
    await service.post('/v1/anchor/batch', { canonical_sha256: hashes }, key);
    const { text, headers } = await checkpointOf(3);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    const { verifier_key } = (await service.get('/v1/log')).json as { verifier_key: string };
    const { name, publicKey } = parseVerifierKey(verifier_key);
    const { size } = await openCheckpoint(text, { origin: name, publicKey });
    expect([name, size]).toEqual(['log.example/a', 3]);

    const tile = await bytesAt('/tile/0/000.p/3');
    expect(tile.bytes).toHaveLength(96);
    expect(tile.headers.get('content-type')).toBe('application/octet-stream');
    expect(tile.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const entries = await bytesAt('/tile/entries/000.p/3');
    const expected = hashes.map((hash) => `0020${Buffer.from(hash, 'base64url').toString('hex')}`);
    expect(toHex(entries.bytes)).toBe(expected.join(''));
    expect((await service.get('/v1/log')).json).toMatchObject({ accepted: 3, tree_size: 3 });
    await expect.poll(async () => (await service.get('/metrics')).text).toContain('anchor_log_tree_size 3');
  });

  it.each([
    '/tile/0/000',
    '/tile/0/000.p/4',
    '/tile/0/001',
    '/tile/1/000.p/1',
    '/tile/entries/000',
    '/tile/0/0',
    '/tile/0/x000/000',
    '/tile/0/000.p/256',
    '/tile/0/000.p/03',
    '/tile/64/000',
    '/tile/0/000/',
    '/tile/entries',
    '/tile/0/..%2f..%2fcheckpoint',
  ])('there is nothing at %s, which nobody may keep', async (path) => {
    const reply = await service.get(path);
    expectProblem(reply, 'not_found');
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  it('keeps its origin over restarts, and gives way to none', async () => {
    // The witnesses cosign after it is published.
    const { text } = await vi.waitFor(async () => {
      const reply = await service.get('/checkpoint');
      expect(reply.text.match(/^— /gm)).toHaveLength(3);
      return reply;
    }, 60_000);
    await service.restart();
    expect((await service.get('/checkpoint')).text).toBe(text);
    expect((await service.get('/.well-known/trust.json')).json).toMatchObject({
      version: 1,
      log: { origin: 'log.example/a', key_id: service.services.issuer.signer('log').keyId },
      chain: null,
    });
  });
});

describe('data of another log', () => {
  const other = async () => createKeyring('local', service.clock());
  it.each<[string, (config: Config) => Config | Promise<Config>]>([
    ['origin', (config) => ({ ...config, log: { ...config.log, origin: 'log.example/b' } })],
    ['chain', (config) => ({ ...config, chain: { ...config.chain, id: 7 } })],
    [
      'key',
      async (config) => {
        const path = join(config.dataDir, 'other.json');
        writeKeyring(path, await other(), null);
        return { ...config, keyring: { ...config.keyring, path } };
      },
    ],
  ])('a start with another %s is refused, and leaves nothing open', async (_, change) => {
    await service.services.close();
    const changed = await change(service.config);
    await expect(openServices(changed, service.clock)).rejects.toMatchObject({ code: 'log_mismatch' });
    await service.restart();
    expect((await service.get('/v1/log')).json).toMatchObject({ origin: 'log.example/a', accepted: 3 });
  });

  it('a start without the keyring is refused before a new one is written', async () => {
    await service.services.close();
    const { path } = service.config.keyring;
    renameSync(path, `${path}.away`);
    await expect(openServices(service.config, service.clock)).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(`There is no keyring at ${path}`),
    });
    expect(existsSync(path)).toBe(false);
    renameSync(`${path}.away`, path);
    await service.restart();
    expect((await service.get('/v1/log')).json).toMatchObject({ accepted: 3 });
  });

  it('an origin that nobody chose gives way to the one that the data have', async () => {
    await service.services.close();
    const { config } = service;
    const log = { ...config.log, origin: '127.0.0.1:1234', originDerived: true };
    const services = await openServices({ ...config, log }, service.clock);
    expect(services.log.origin).toBe('log.example/a');
    await services.close();
    await service.restart();
  });
});

it('production without a posting key does not start, and says what is missing', async () => {
  await service.services.close();
  const { config } = service;
  const postingKeyFile = join(config.dataDir, 'nowhere.key');
  const chain = { ...config.chain, rpcUrl: 'http://127.0.0.1:9', postingKeyFile };
  const opening = openServices({ ...config, mode: 'production', chain }, service.clock);
  await expect(opening).rejects.toThrow(`There is no posting key at ${postingKeyFile}`);
  await service.restart();
});
