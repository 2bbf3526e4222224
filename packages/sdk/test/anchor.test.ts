import { anchoredHash, fromHex, sha256, toBase64url, utf8 } from '@tallystick/core';
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { type Served, serve, tally, temporaryFolder } from '../../../e2e/process.ts';
import {
  type Anchor,
  type AnchoredResult,
  type CheckedTrust,
  type Client,
  createClient,
  generateSecretKey,
  issue,
  ServiceError,
  type Verification,
  verifyReceipt,
  withAnchor,
} from '../src/index.ts';
import { answer, loopback } from './loopback.ts';

const hashOf = (text: string): string => toBase64url(sha256(utf8(text)));
const pending = (anchor_ref: string) => ({ anchor_ref, batch_id: '2026-11-21T10:00Z', eta_seconds: 60 });

describe('what is anchored', () => {
  test('is a hash in any form, or that of a receipt', async () => {
    const service = await loopback(answer(200, pending('urn:anchor:pending:2026-11-21T10:00Z:0')));
    const client = createClient({ baseUrl: service.url, apiKey: 'k_pro_1' });
    const params = {
      symbol: 'A',
      units: 1,
      amountUsd: 1,
      recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
      issuerSk: generateSecretKey(),
    };
    const { receipt, text } = await issue(params);
    const hex = anchoredHash(receipt);
    const wire = toBase64url(fromHex(hex));
    const forms = [hex, wire, fromHex(hex), text, ` \n${text}`, utf8(text), receipt];
    for (const form of forms) await client.anchor(form);
    expect(service.arrived.map(({ body }) => body)).toEqual(
      forms.map(() => `{"canonical_sha256":"${wire}"}`),
    );
    expect(new Set(service.arrived.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer k_pro_1']),
    );
    expectTypeOf(client.anchor(hex)).resolves.toEqualTypeOf<Anchor>();
  });

  test.each([
    ['padded', `${'A'.repeat(43)}=`, 'invalid_base64url'],
    ['too short', 'A'.repeat(42), 'invalid_base64url'],
    ['with spare bits', `${'A'.repeat(42)}B`, 'invalid_base64url'],
    ['hex in upper case', 'AB'.repeat(32), 'invalid_base64url'],
    ['empty', '', 'invalid_base64url'],
    ['of 31 bytes', new Uint8Array(31), 'json_syntax'],
    ['no receipt', '{}', 'not_a_receipt'],
  ])('is refused here when it is %s', async (_, given, code) => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
    await expect(client.anchor(given)).rejects.toMatchObject({ code });
    await expect(client.anchorBatch([given])).rejects.toMatchObject({ code });
    await expect(client.getAnchorByHash(given)).rejects.toMatchObject({ code });
  });
});

describe('anchorBatch', () => {
  test('sends 10,000 at once and keeps the order', async () => {
    const sizes: number[] = [];
    const fetch = async (_: string, { body }: RequestInit) => {
      const { canonical_sha256: hashes } = JSON.parse(body as string) as { canonical_sha256: string[] };
      sizes.push(hashes.length);
      return Response.json({ results: hashes.map(pending) });
    };
    const client = createClient({ baseUrl: 'https://anchors.example', fetch });
    const hashes = Array.from({ length: 20_001 }, (_, index) => hashOf(`${index}`));
    const anchors = await client.anchorBatch(hashes, { idempotencyKey: 'of one request' });
    expect(anchors.map(({ anchor_ref }) => anchor_ref)).toEqual(hashes);
    expect(sizes).toEqual([10_000, 10_000, 1]);
  });

  test('of none asks nobody', async () => {
    expect(await createClient({ baseUrl: 'http://127.0.0.1:1' }).anchorBatch([])).toEqual([]);
  });
});

test('a quota that is used up says when there is more', async () => {
  const refusal = { code: 'quota_exceeded', detail: 'The 50000 of this month are used up.' };
  const service = await loopback(answer(429, refusal, { 'retry-after': '86400' }));
  const error = await createClient({ baseUrl: service.url })
    .anchor(hashOf('x'))
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'quota_exceeded', status: 429, retryAfter: 86_400 });
  expect(service.arrived).toHaveLength(1);
});

describe('withAnchor', () => {
  const anchored: AnchoredResult = {
    anchor_ref: `urn:anchor:devnet:7:0x${'ab'.repeat(32)}:0`,
    network: 'devnet',
    block_height: 7,
    tx_hash: `0x${'ab'.repeat(32)}`,
    merkle_root: `sha256:${'00'.repeat(32)}`,
    merkle_path: [],
    verified_at: '2026-11-21T10:00:05Z',
  };

  test('puts the anchor on the receipt, whose hash and signature stay', async () => {
    const params = {
      symbol: 'A',
      units: 1,
      amountUsd: 1,
      recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
      issuerSk: generateSecretKey(),
    };
    const { receipt, text } = await issue(params);
    const waiting = pending('urn:anchor:pending:2026-11-21T10:00Z:0');
    const early = withAnchor(text, waiting);
    expect(JSON.parse(early)).toEqual({ ...receipt, anchor_ref: waiting.anchor_ref });
    const late = withAnchor(early, anchored);
    expect(JSON.parse(late)).toEqual({ ...receipt, anchor_ref: anchored.anchor_ref, anchor: anchored });
    expect(anchoredHash(JSON.parse(late))).toBe(anchoredHash(receipt));
  });

  test('refuses what has no member for it', () => {
    expect(() => withAnchor('{}', anchored)).toThrow(expect.objectContaining({ code: 'not_a_receipt' }));
  });
});

describe('with a real service', () => {
  let service: Served;
  let client: Client;
  let scale: Client;
  let trust: CheckedTrust;

  beforeAll(async () => {
    const dataDir = temporaryFolder();
    service = await serve({ TALLY_DATA_DIR: dataDir, TALLY_ANCHOR_PERIOD_SECONDS: '2' });
    const clientOf = async (tier: string): Promise<Client> => {
      const { stdout } = await tally(['apikey', 'create', '--tier', tier, '--json'], {
        TALLY_DATA_DIR: dataDir,
      });
      const { key } = JSON.parse(stdout) as { key: string };
      return createClient({ baseUrl: service.url, apiKey: key });
    };
    [client, scale] = await Promise.all([clientOf('pro'), clientOf('scale')]);
    trust = await client.fetchTrust();
  });

  const checksOf = ({ checks }: Verification) =>
    Object.fromEntries(
      checks.filter(({ name }) => name.startsWith('anchor')).map(({ name, ok }) => [name, ok]),
    );
  const offline = { anchor: true, anchor_checkpoint: true, anchor_transaction: null };
  const proved = { ...offline, anchor_transaction: true };

  test('a hash goes from pending to anchored, and the proof is checked offline', async () => {
    const { text } = await client.emit({ profile: 'nano', input: 'unit 1', anchor: true });
    const first = await client.getAnchorByHash(text);
    // It may be anchored, and so change its reference, between two questions.
    await expect
      .poll(async () => {
        const ways = [client.getAnchorByHash(text), client.anchor(text), client.getAnchor(first.anchor_ref)];
        return new Set((await Promise.all(ways)).map(({ anchor_ref }) => anchor_ref)).size;
      })
      .toBe(1);
    const anchor = await client.waitForAnchor(first.anchor_ref);
    expectTypeOf(anchor).toEqualTypeOf<AnchoredResult>();
    expect(await client.waitForAnchor(text)).toEqual(anchor);
    expect(await client.getAnchor(anchor.anchor_ref)).toEqual(anchor);
    for (const form of [anchor, JSON.stringify(anchor), utf8(JSON.stringify(anchor))]) {
      expect(checksOf(await verifyReceipt(text, { trust, anchor: form }))).toEqual(offline);
    }
    expect(checksOf(await client.verify(text, { anchor }))).toEqual(proved);
    const other = await client.emit({ profile: 'nano', input: 'unit 2' });
    expect(await verifyReceipt(other.text, { trust, anchor })).toMatchObject({ valid: false });
    expect(await client.verify(other.text, { anchor })).toMatchObject({ valid: false });
  });

  test('many are anchored at once, and the same one again has its place', async () => {
    const hashes = Array.from({ length: 300 }, (_, index) => hashOf(`many ${index}`));
    const anchors = await client.anchorBatch([...hashes, ...hashes]);
    const refs = anchors.map(({ anchor_ref }) => anchor_ref);
    expect(new Set(refs).size).toBe(300);
    expect(refs.slice(300)).toEqual(refs.slice(0, 300));
    // Its reference changes once it is anchored, and its place in the log does not.
    const placeOf = (ref = ''): string => ref.slice(ref.lastIndexOf(':'));
    const { anchor_ref } = await client.getAnchorByHash(hashes[7] ?? '');
    expect(placeOf(anchor_ref)).toBe(placeOf(refs[7]));
  });

  test('receipts say what they carry', async () => {
    const minted = await client.mintFree({ input: 'x', purpose: 'p', anchor: true });
    const pendingRef = expect.stringMatching(/^urn:anchor:pending:/) as string;
    expect(minted.receipt).toMatchObject({ anchor_ref: pendingRef, tier: 'pro' });
    const plain = await client.mintFree({ input: 'x', purpose: 'p' });
    expect(plain.receipt.tier).toBe('pro');
    expect(plain.receipt).not.toHaveProperty('anchor_ref');
    expect((await scale.emit({ input: 'x' })).receipt).toMatchObject({
      anchor_ref: pendingRef,
      tier: 'scale',
    });
    const issueParams = {
      symbol: 'A',
      units: 1,
      amountUsd: 1,
      recipient: '0x52908400098527886E0F7030069857D2E4169EE7',
    };
    const issued = await client.issue({ ...issueParams, issuerSk: generateSecretKey(), anchor: true });
    expect(issued.receipt).toMatchObject({ anchor_ref: issued.anchor?.anchor_ref, tier: 'pro' });
    const whole = withAnchor(issued.text, await client.waitForAnchor(issued.text));
    expect(checksOf(await verifyReceipt(whole, { trust }))).toEqual(offline);
    expect(checksOf(await client.verify(whole))).toEqual(proved);
  });

  test('a bill is anchored where that is asked for', async () => {
    const hex = '0'.repeat(64);
    const { receipt, text } = await client.meter({
      machineCommitment: hex,
      customerCommitment: hex,
      saltCommitment: hex,
      windowStart: '2026-01-01T00:00:00Z',
      windowEnd: '2026-01-01T08:00:00Z',
      serviceUnit: 'pick',
      billedUnitCount: 1,
      evidence: () => [],
      rate: { unitRateMinor: 1, currency: 'EUR', rateCommitment: hex },
      anchor: true,
    });
    const anchor = await client.getAnchorByHash(text);
    expect(anchor.anchor_ref).toContain('urn:anchor:');
    expect(() => withAnchor(receipt, anchor)).toThrow(
      expect.objectContaining({ code: 'not_a_receipt', field: 'anchor_ref' }),
    );
  });

  test('refusals have their codes', async () => {
    const stranger = createClient({ baseUrl: service.url });
    await expect(stranger.anchor(hashOf('x'))).rejects.toMatchObject({
      code: 'api_key_missing',
      status: 401,
    });
    await expect(stranger.mintFree({ input: 'x', purpose: 'p', anchor: true })).rejects.toMatchObject({
      code: 'api_key_missing',
      field: 'anchor',
    });
    await expect(stranger.getAnchorByHash(hashOf('nobody’s'))).rejects.toMatchObject({
      code: 'anchor_not_found',
    });
    await expect(stranger.getAnchor('urn:anchor:pending:2020-01-01T00:00Z:0')).rejects.toMatchObject({
      code: 'anchor_not_found',
    });
    await expect(stranger.waitForAnchor('urn:anchor:nonsense')).rejects.toMatchObject({
      code: 'anchor_ref_invalid',
    });
  });
});
