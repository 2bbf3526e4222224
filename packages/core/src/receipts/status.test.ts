import { describe, expect, test } from 'vitest';
import { keyOf, recordOf, signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { trustOf } from '../trust/issuer.ts';
import { verify } from '../verify.ts';
import { type StatusDocument, signStatus, statusDigest } from './status.ts';
import { followStatus } from './status-chain.ts';
import { readStatus } from './status-report.ts';

const NOW = Date.UTC(2027, 2, 1, 12);
const MINUTE = 60_000;
const signer = await signerOf(1);

const endpoint = {
  name: 'pricing',
  method: 'GET',
  path: '/pricing',
  availability: 'live',
  probe: 'answer',
  state: 'up',
  code: 'ok',
  latency_ms: 1.5,
  samples: 3,
  checked_at: '2027-03-01T11:59:59Z',
  since: '2027-02-01T00:00:00Z',
};
const log = { checkpoint: null, accepted: 0, anchored: 0, oldest_unanchored_seconds: null };
const light = { id: 'openai', state: 'unknown', code: 'not_called', since: '2027-03-01T12:00:00Z' };
const content: JsonObject = {
  version: 1,
  service: 'https://x.example',
  endpoints: [endpoint],
  providers: [light],
  models: [{ ...light, id: 'openai/gpt-5' }],
  log,
};

async function made(
  sequence: number,
  previous: StatusDocument | null,
  change: JsonObject = {},
): Promise<StatusDocument> {
  const issuance = {
    did: 'did:svc:alice',
    sequence,
    previousSha256: previous && statusDigest(previous),
    issuedAt: NOW + sequence * MINUTE,
    validUntil: NOW + (sequence + 3) * MINUTE,
  };
  const text = await signStatus({ ...content, ...change }, issuance, signer);
  return parseJson(utf8(text)) as StatusDocument;
}

const first = await made(1, null);
const second = await made(2, first);
const third = await made(3, second);
const otherSecond = await made(2, first, { service: 'y' });
const otherThird = await made(3, first);
const orphan = await made(3, null);
const at = (sequence: number) => NOW + sequence * MINUTE + 1;
const seen = (document: StatusDocument) => ({
  sequence: document.sequence,
  sha256: statusDigest(document),
});

describe('a status document', () => {
  const known = (purpose: 'status' | 'benchmark') =>
    trustOf([recordOf('did:svc:alice', { ...keyOf(signer), purpose })]);

  test('is valid and trusted with a key that is for status', async () => {
    const { valid, family, profile, receipt_id, issuer } = await verify(second, {
      now: at(2),
      trust: known('status'),
    });
    expect({ valid, family, profile, receipt_id }).toEqual({
      valid: true,
      family: 'status',
      profile: 'status',
      receipt_id: 'status/2',
    });
    expect(issuer.trusted).toBe(true);
  });

  test('contradicts an issuer whose key is for benchmarks', async () => {
    const { valid, issuer } = await verify(second, { now: at(2), trust: known('benchmark') });
    expect([valid, issuer.status]).toEqual([false, 'contradicted']);
  });

  test('keeps its digest when an unsigned member is added, and changes it with any other', () => {
    expect(statusDigest({ ...second, tier: 'pro' })).toBe(statusDigest(second));
    expect(statusDigest({ ...second, sequence: 9 })).not.toBe(statusDigest(second));
  });
});

describe('beside what was seen before, a document is', () => {
  const rows: [string, StatusDocument, StatusDocument | null, number, string][] = [
    ['the first look', second, null, at(2), 'current'],
    ['the same again', second, second, at(2), 'current'],
    ['the next', third, second, at(3), 'current'],
    ['one after a gap', third, first, at(3), 'current'],
    ['at the end of its time', first, null, NOW + 4 * MINUTE, 'stale'],
    ['just before the end of its time', first, null, NOW + 4 * MINUTE - 1, 'current'],
    ['the same, over', second, second, at(9), 'stale'],
    ['an older one', first, second, at(2), 'rolled_back'],
    ['an older one that is over too', first, third, at(9), 'rolled_back'],
    ['another of the same sequence', otherSecond, second, at(2), 'forked'],
    ['the next of another', otherThird, second, at(3), 'forked'],
    ['the next of none', orphan, second, at(3), 'forked'],
  ];
  test.each(rows)('%s', (_, document, before, now, standing) => {
    const found = followStatus(document, before && seen(before), now);
    expect(found.standing).toBe(standing);
    const kept = standing === 'forked' || standing === 'rolled_back';
    expect(found.seen).toEqual(kept && before ? seen(before) : seen(document));
  });
});

describe('reading a report', () => {
  test('gives the document as it is', () => {
    expect(readStatus(second)).toBe(second);
  });

  test.each<[string, JsonObject, string]>([
    ['another version', { version: 2 }, 'version'],
    ['endpoints that are no list', { endpoints: {} }, 'endpoints'],
    ['a state that there is not', { endpoints: [{ ...endpoint, state: 'fine' }] }, 'endpoints[0].state'],
    ['a path with a host', { endpoints: [{ ...endpoint, path: 'https://x' }] }, 'endpoints[0].path'],
    ['a code that draws', { endpoints: [endpoint, { ...endpoint, code: 'a\u001b' }] }, 'endpoints[1].code'],
    ['providers that are no list', { providers: {} }, 'providers'],
    ['a model in a state that there is not', { models: [{ ...light, state: 'fine' }] }, 'models[0].state'],
    ['a latency below zero', { endpoints: [{ ...endpoint, latency_ms: -1 }] }, 'endpoints[0].latency_ms'],
    [
      'a root that is no hash',
      { log: { ...log, checkpoint: { origin: 'o', size: 1, root: 'x' } } },
      'log.checkpoint.root',
    ],
    ['no log', { log: null }, 'log'],
  ])('refuses %s', async (_, change, field) => {
    const document = await made(2, first, change);
    expect(() => readStatus(document)).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
  });
});
