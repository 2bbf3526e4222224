import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createSigner,
  didKeyOf,
  type JsonObject,
  type Signer,
  signStatus,
  signTrustBundle,
  toBase64url,
} from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ran, run, type Service, serve, workspace } from './tally.ts';

const DID = 'did:svc:watched';
const MINUTE = 60_000;
const { at, tally, remove } = workspace();

const signerOf = (seed: number): Promise<Signer> => createSigner(new Uint8Array(32).fill(seed));
const [root, own, other] = await Promise.all([signerOf(1), signerOf(2), signerOf(3)]);

const bundle = await signTrustBundle(
  {
    version: 1,
    issuedAt: Date.now() - MINUTE,
    expiresAt: Date.now() + 1440 * MINUTE,
    issuers: [
      {
        did: DID,
        status: 'verified',
        keys: [
          {
            key_id: own.keyId,
            public_key: toBase64url(own.publicKey),
            purpose: 'status',
            state: 'active',
            valid_from: '2026-01-01T00:00:00Z',
            valid_until: null,
            revoked: null,
          },
        ],
      },
    ],
    log: null,
    chain: null,
  },
  root,
);

const endpoint = {
  name: 'pricing',
  method: 'GET',
  path: '/pricing',
  availability: 'live',
  probe: 'answer',
  state: 'up',
  code: 'ok',
  latency_ms: 1.25,
  samples: 3,
  checked_at: '2026-11-21T12:00:00Z',
  since: '2026-11-20T08:00:00Z',
};

const light = { id: 'openai', since: '2026-11-20T08:00:00Z' };

interface Change {
  readonly endpoints?: readonly JsonObject[];
  readonly ageMs?: number;
  readonly signer?: Signer;
  readonly did?: string;
}

function made(sequence: number, { endpoints = [endpoint], ageMs = 0, signer = own, did = DID }: Change = {}) {
  const issuedAt = Date.now() - ageMs;
  const log = {
    checkpoint: { origin: 'log.example', size: 12, root: 'ab'.repeat(32) },
    accepted: 13,
    anchored: 12,
    oldest_unanchored_seconds: 40,
  };
  return signStatus(
    {
      version: 1,
      service: 'https://watched.example',
      endpoints: [...endpoints],
      providers: [{ ...light, id: 'openai', state: 'down', code: 'unreachable' }],
      models: [
        { ...light, id: 'openai/gpt-5', state: 'unknown', code: 'not_called' },
        { ...light, id: 'openai/gpt-4', state: 'unknown', code: 'not_called', warning: 'retires_soon' },
      ],
      log,
    },
    {
      did,
      sequence,
      previousSha256: sequence === 1 ? null : 'a'.repeat(64),
      issuedAt,
      validUntil: issuedAt + 3 * MINUTE,
    },
    signer,
  );
}

/** What the watched service answers at /status: each once, the last again and again. */
let answers: (string | number)[] = [];
let watched: Server;
let url: string;
let states = 0;
let state: string;
beforeAll(async () => {
  watched = createServer((request, response) => {
    if (request.url === '/.well-known/trust.json') return response.end(bundle);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (typeof answer === 'number') return response.writeHead(answer).end();
    return response.setHeader('content-type', 'application/json').end(answer);
  });
  await new Promise<void>((listening) => void watched.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(watched.address() as AddressInfo).port}`;
  await tally(['trust', 'fetch', url]);
});
afterAll(async () => {
  watched.closeAllConnections();
  await new Promise((closed) => watched.close(closed));
  remove();
});
beforeEach(() => {
  states += 1;
  state = at(`state-${states}.json`);
});

const status = (...args: string[]): Promise<Ran> => tally(['status', '--url', url, ...args]);
const verified = (...args: string[]): Promise<Ran> => status('--verify', '--state', state, ...args);
const remembered = (): { sequence: number } =>
  JSON.parse(readFileSync(state, 'utf8')) as { sequence: number };

describe('one look', () => {
  test('shows every endpoint and the log, and says that nothing was checked', async () => {
    answers = [await made(4)];
    const { code, stdout, stderr } = await status();
    expect([code, stderr]).toEqual([0, '']);
    for (const line of [
      `✓ ${url}: 1 of 1 endpoints are up`,
      'Not verified: add --verify.',
      'pricing          GET  /pricing',
      '1.3 ms',
      '✗ down     provider openai',
      'unreachable',
      'model    openai/gpt-4',
      'not_called, retires_soon',
      '2 of 2 models were not called lately',
      'log log.example: 12 leaves, root abab',
      '1 of 13 hashes are waiting for their anchor, the oldest for at most 40 s',
    ])
      expect(stdout).toContain(line);
  });

  test('with --verify is green only where key, contents and time are right, and is remembered', async () => {
    answers = [await made(4)];
    const { code, stdout } = await verified();
    expect([code, stdout.includes('Signed by an issuer that you trust, and new.')]).toEqual([0, true]);
    expect(remembered()).toMatchObject({ url, issuer_did: DID, sequence: 4 });
  });

  test('ends with 1 where an endpoint is down, though all is signed', async () => {
    answers = [
      await made(4, { endpoints: [endpoint, { ...endpoint, name: 'mcp', state: 'down', code: 'timeout' }] }),
    ];
    for (const args of [[], ['--verify', '--state', state]]) {
      const { code, stdout } = await status(...args);
      expect([code, stdout.includes('1 down')]).toEqual([1, true]);
      expect(stdout).toMatch(/✗ down {5}mcp .*timeout/);
    }
  });

  test('ends with 0 where one is only degraded', async () => {
    answers = [await made(4, { endpoints: [{ ...endpoint, state: 'degraded', code: 'slow' }] })];
    expect((await verified()).code).toBe(0);
  });

  test('as JSON says what came of it, and gives the document', async () => {
    answers = [await made(4)];
    const { stdout } = await verified('--json');
    expect(JSON.parse(stdout)).toMatchObject({
      url,
      verified: true,
      standing: 'current',
      valid: true,
      trusted: true,
      status: { sequence: 4, type: 'svc-status-v1' },
    });
  });

  test('lets no document draw on the terminal', async () => {
    answers = [await made(4, { did: 'did:svc:watched', endpoints: [{ ...endpoint, name: 'a\u001b[2Jb' }] })];
    expect((await status()).stdout).not.toContain('\u001b');
  });
});

describe('what is not believed', () => {
  const rows: [string, () => Promise<string>, number, string][] = [
    ['a changed member', async () => (await made(4)).replace('"up"', '"down"'), 1, 'invalid'],
    ['a key that is not the service’s', async () => made(4, { signer: other }), 1, 'invalid'],
    ['a stale one', () => made(4, { ageMs: 3 * MINUTE }), 1, 'stale'],
    [
      'a stranger with a key of its own',
      () => made(4, { signer: other, did: didKeyOf(other.publicKey) }),
      3,
      'current',
    ],
  ];
  test.each(rows)('%s', async (_, document, exit, standing) => {
    answers = [await document()];
    const { code, stdout } = await verified('--json');
    expect([code, (JSON.parse(stdout) as { standing: string }).standing]).toEqual([exit, standing]);
  });

  test.each<[string, number | string]>([
    ['something else', '{"status":"fine"}'],
    ['no service', 404],
    ['another version', '{"type":"svc-status-v1","version":2}'],
  ])('%s is an error, not a status', async (_, answer) => {
    answers = [answer];
    const { code, stderr } = await status();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tally: .*\((?:unavailable|invalid_field)\)/);
  });
});

describe('what was seen before', () => {
  test('makes an older one rolled back, however fresh its time', async () => {
    answers = [await made(9), await made(8)];
    expect((await verified()).code).toBe(0);
    const { code, stdout } = await verified();
    expect([code, stdout.includes('Rolled back')]).toEqual([1, true]);
    expect(stdout).toContain('✗ ');
    expect(stdout).toContain('says that 1 of 1 endpoints are up');
    expect(remembered().sequence).toBe(9);
  });

  test('makes another one of the same number forked, and the same one again is current', async () => {
    const nine = await made(9);
    answers = [nine, nine, await made(9, { endpoints: [] })];
    expect((await verified()).code).toBe(0);
    expect((await verified()).code).toBe(0);
    const { code, stdout } = await verified();
    expect([code, stdout.includes('Forked')]).toEqual([1, true]);
  });

  test('makes the next one of another forked', async () => {
    answers = [await made(9), await made(10)];
    expect((await verified()).code).toBe(0);
    expect((await verified()).stdout).toContain('Forked');
  });

  test('is not replaced by what nobody vouches for', async () => {
    answers = [
      await made(9),
      await made(1_000, { signer: other, did: didKeyOf(other.publicKey) }),
      await made(11),
    ];
    expect((await verified()).code).toBe(0);
    const foreign = await verified('--json');
    expect([foreign.code, JSON.parse(foreign.stdout)]).toMatchObject([1, { standing: 'other_issuer' }]);
    expect((await verified()).code).toBe(0);
    expect(remembered().sequence).toBe(11);
  });

  test('is kept for each service beside the saved trust where no file is named', async () => {
    answers = [await made(9), await made(8)];
    expect((await status('--verify')).code).toBe(0);
    expect((await status('--verify')).code).toBe(1);
  });

  test('is forgotten with the saved trust', async () => {
    answers = [await made(7), await made(1)];
    await tally(['trust', 'forget', url]);
    await tally(['trust', 'fetch', url]);
    expect((await status('--verify')).code).toBe(0);
    await tally(['trust', 'forget', url]);
    await tally(['trust', 'fetch', url]);
    expect((await status('--verify')).code).toBe(0);
  });

  test('that can’t be read is no reason to begin anew', async () => {
    answers = [await made(9)];
    for (const damaged of ['{', '{"url":"http://other","issuer_did":"x","sequence":1,"sha256":"y"}']) {
      writeFileSync(state, damaged);
      expect((await verified()).code).not.toBe(0);
      expect(readFileSync(state, 'utf8')).toBe(damaged);
    }
  });
});

describe('tally status --watch', () => {
  test('goes on while the service carries on or is away, and ends with 1 at a rollback', async () => {
    answers = [await made(9), 503, await made(11, { ageMs: 4 * MINUTE }), await made(13), await made(10)];
    const { code, stdout, stderr } = await verified('--watch', '--every', '1', '--json');
    const seen = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { standing: string }).standing);
    expect([code, seen]).toEqual([1, ['current', 'stale', 'current', 'rolled_back']]);
    expect(stderr).toContain('Trying again later.');
  });
});

describe('wrong usage', () => {
  test.each([
    [['--every', '0'], /number of seconds/],
    [['--url', 'nonsense'], /not the URL of a service/],
    [['--verify', '--trust', 'no-such-file.json'], /no-such-file/],
  ])('%j', async (args, message) => {
    const { code, stderr } = await run(['status', '--url', url, ...args], {
      env: { TALLY_HOME: at('home') },
    });
    expect([code, message.test(stderr)]).toEqual([2, true]);
  });
});

describe('a real service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await serve(at('data'));
  });
  afterAll(() => service.stop());

  test('signs a status of seventeen endpoints that verifies', async () => {
    const here = (...args: string[]) => tally(['status', ...args], { env: service.env });
    expect((await tally(['trust', 'fetch'], { env: service.env })).code).toBe(0);
    const { stdout } = await here('--verify', '--json');
    const found = JSON.parse(stdout) as {
      standing: string;
      trusted: boolean;
      status: { endpoints: unknown[] };
    };
    expect([found.standing, found.trusted, found.status.endpoints.length]).toEqual(['current', true, 17]);
  });
});
