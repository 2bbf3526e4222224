import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf, recordOf, signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { sha256Hex } from '../hash.ts';
import { trustOf } from '../trust/issuer.ts';
import { nextStreamHead, streamStart } from './chain.ts';
import { readStreamHead, type StreamHead, signStreamHead, streamHeadHash } from './head.ts';
import { judgeStream, type StreamEvidence } from './verify-stream.ts';

const STREAM = 'tenant:t_0123456789abcdef';
const DID = 'did:svc:example';
const AT = Date.UTC(2027, 2, 1);
const signer = await signerOf(7);

const hashOf = (index: number): string => sha256Hex(utf8(`receipt ${index}`));

/** Heads after so many receipts each, over a stream of receipts 1, 2, 3 … */
async function headsAt(counts: readonly number[]): Promise<StreamHead[]> {
  const heads: StreamHead[] = [];
  let head = streamStart(STREAM);
  let count = 0;
  for (const [position, next] of counts.entries()) {
    for (; count < next; count++) head = nextStreamHead(head, fromHex(hashOf(count + 1), 32));
    const before = heads.at(-1);
    const facts = {
      stream: STREAM,
      count,
      head: toHex(head),
      since: '2027-02-01T00:00:00Z',
      previous_sha256: before === undefined ? null : streamHeadHash(before),
    };
    const text = await signStreamHead(facts, { did: DID, at: AT + position * 86_400_000 }, signer);
    heads.push(await readStreamHead(JSON.parse(text), {}));
  }
  return heads;
}

const given = (hashes: readonly string[]) => hashes.map((sha256) => ({ sha256, issuedAt: AT / 1000 + 3600 }));

/** Good evidence of the receipts between two heads. */
async function evidenceOf(from: number, to: number, between: readonly number[]): Promise<StreamEvidence> {
  const counts = [...new Set([from, ...between, to])].sort((a, b) => a - b);
  const heads = await headsAt(counts);
  const hashes = Array.from({ length: to - from }, (_, offset) => hashOf(from + offset + 1));
  return { heads, from, hashes, given: given(hashes) };
}

const range = fc
  .record({
    from: fc.nat(20),
    length: fc.integer({ min: 3, max: 40 }),
    between: fc.array(fc.nat(60), { maxLength: 3 }),
  })
  .map(({ from, length, between }) => ({
    from,
    to: from + length,
    between: between.filter((count) => count > from && count < from + length),
  }));
const sample = fc.record({ range, pick: fc.nat(1000), other: fc.nat(1000) });
const runs = { numRuns: 60 };

describe('a stream', () => {
  it('is complete with all that its heads count, from any head to any other', async () => {
    await fc.assert(
      fc.asyncProperty(range, async ({ from, to, between }) => {
        const verdict = judgeStream(await evidenceOf(from, to, between));
        expect(verdict).toMatchObject({
          complete: true,
          first: from + 1,
          last: to,
          given: to - from,
          absent: [],
          faults: [],
        });
      }),
      runs,
    );
  });

  it('names a receipt that is not here', async () => {
    await fc.assert(
      fc.asyncProperty(sample, async ({ range: { from, to, between }, pick }) => {
        const evidence = await evidenceOf(from, to, between);
        const sha256 = evidence.hashes[pick % evidence.hashes.length] ?? '';
        const index = from + (pick % evidence.hashes.length) + 1;
        const rest = given(evidence.hashes.filter((hash) => hash !== sha256));
        const fault = { kind: 'left_out', index, sha256 };
        expect(judgeStream({ ...evidence, given: rest })).toMatchObject({ complete: false, faults: [fault] });
        const excused = judgeStream({ ...evidence, given: rest, excuse: () => 'purged' });
        expect(excused).toMatchObject({ complete: true, absent: [{ index, sha256, reason: 'purged' }] });
      }),
      runs,
    );
  });

  it('names a receipt whose hash was taken from the list, while the receipt is still here', async () => {
    await fc.assert(
      fc.asyncProperty(sample, async ({ range: { from, to, between }, pick }) => {
        const evidence = await evidenceOf(from, to, between);
        const offset = pick % evidence.hashes.length;
        const hashes = evidence.hashes.toSpliced(offset, 1);
        const { complete, faults } = judgeStream({ ...evidence, hashes });
        expect(complete).toBe(false);
        expect(faults).toMatchObject([
          { kind: 'left_out', index: from + offset + 1, sha256: evidence.hashes[offset] },
        ]);
      }),
      runs,
    );
  });

  it('names a receipt that was added', async () => {
    await fc.assert(
      fc.asyncProperty(sample, async ({ range: { from, to, between }, pick }) => {
        const evidence = await evidenceOf(from, to, between);
        const sha256 = sha256Hex(utf8('never entered'));
        const more = [...evidence.given, ...given([sha256])];
        const unlisted = judgeStream({ ...evidence, given: more });
        expect(unlisted).toMatchObject({ complete: false, faults: [{ kind: 'added', index: null, sha256 }] });
        const offset = pick % (evidence.hashes.length + 1);
        const hashes = evidence.hashes.toSpliced(offset, 0, sha256);
        const listed = judgeStream({ ...evidence, hashes, given: more });
        expect(listed.complete).toBe(false);
        expect(listed.faults).toMatchObject([{ kind: 'added', index: from + offset + 1, sha256 }]);
      }),
      runs,
    );
  });

  it('names one of two receipts that were swapped', async () => {
    await fc.assert(
      fc.asyncProperty(sample, async ({ range: { from, to }, pick, other }) => {
        const evidence = await evidenceOf(from, to, []);
        const [a, b] = [pick % evidence.hashes.length, other % evidence.hashes.length].sort((x, y) => x - y);
        if (a === undefined || b === undefined || a === b) return;
        const [first = '', second = ''] = [evidence.hashes[a], evidence.hashes[b]];
        const { complete, faults } = judgeStream({
          ...evidence,
          hashes: evidence.hashes.with(a, second).with(b, first),
        });
        expect(complete).toBe(false);
        expect(faults).toHaveLength(1);
        expect(faults[0]?.kind).toBe('moved');
        const { index, sha256 } = faults[0] ?? {};
        expect([hashOf(from + a + 1), hashOf(from + b + 1)]).toContain(sha256);
        expect(hashOf(index ?? 0)).toBe(sha256);
      }),
      { numRuns: 15 },
    );
  });

  it('says between which heads the hashes are others where no one change explains it', async () => {
    const evidence = await evidenceOf(10, 30, [20]);
    const hashes = evidence.hashes.map((hash, offset) =>
      offset === 12 || offset === 15 ? sha256Hex(utf8(hash)) : hash,
    );
    const [fault] = judgeStream({ ...evidence, hashes, given: given(hashes) }).faults;
    expect(fault).toMatchObject({
      kind: 'chain',
      index: 30,
      sha256: null,
      detail: expect.stringContaining('between 20 and 30'),
    });
  });

  it('does not take a head that does not follow, and none that leads from nowhere', async () => {
    const evidence = await evidenceOf(0, 9, [4]);
    const [first, , last] = evidence.heads;
    if (first === undefined || last === undefined) throw new Error('heads');
    expect(judgeStream({ ...evidence, heads: [first, last] }).faults).toMatchObject([
      { kind: 'heads', index: 9 },
    ]);
    expect(() =>
      judgeStream({ ...evidence, heads: [last], from: 3, hashes: evidence.hashes.slice(3) }),
    ).toThrow(/no head at 3/);
    expect(() => judgeStream({ ...evidence, heads: [] })).toThrow(/Without a head/);
  });

  it('looks for no change between heads that are out of order', async () => {
    const [low, high] = await headsAt([2, 5]);
    if (low === undefined || high === undefined) throw new Error('There are two heads.');
    // So many that a search among them would not end.
    const more = Array.from<string>({ length: 200_000 }).fill(hashOf(9));
    const hashes = [1, 2, 3, 4, 5].map(hashOf).concat(more);
    const { faults } = judgeStream({ heads: [high, low], from: 0, hashes, given: given(hashes) });
    expect(faults).toMatchObject([
      { kind: 'heads', index: 2 },
      { kind: 'chain', index: 2 },
    ]);
  });

  it('counts apart what was issued before the stream was opened', async () => {
    const evidence = await evidenceOf(0, 3, []);
    const old = { sha256: hashOf(77), issuedAt: Date.UTC(2027, 0, 1) / 1000 };
    const verdict = judgeStream({ ...evidence, given: [...evidence.given, old] });
    expect(verdict).toMatchObject({ complete: true, given: 3, uncounted: 1 });
  });
});

describe('a head', () => {
  it('counts only when a key of the issuer for heads signed it', async () => {
    const [head] = await headsAt([2]);
    const known = (purpose: string) =>
      trustOf([recordOf(DID, keyOf(signer, { purpose, valid_from: '2026-01-01T00:00:00Z' }))]);
    await expect(readStreamHead(head, { trust: known('head') })).resolves.toEqual(head);
    await expect(readStreamHead(head, { trust: known('receipt') })).rejects.toThrow(
      /is for receipt, not for head/,
    );
    await expect(readStreamHead(head, { trust: trustOf([]) })).rejects.toThrow(/does not list this issuer/);
    const registered = {
      ...recordOf(DID, keyOf(signer, { purpose: 'head' })),
      status: 'registered' as const,
    };
    await expect(readStreamHead(head, { trust: trustOf([registered]) })).rejects.toThrow(/nobody vouches/);
    await expect(readStreamHead({ ...head, count: 3 }, {})).rejects.toMatchObject({ code: 'stream_invalid' });
  });

  it('of a key that was compromised later counts where something shows that it is older', async () => {
    const [head] = await headsAt([2]);
    const revoked = { at: '2027-04-01T00:00:00Z', reason: 'compromised' as const };
    const key = keyOf(signer, {
      purpose: 'head',
      state: 'revoked',
      valid_from: '2026-01-01T00:00:00Z',
      revoked,
    });
    const trust = trustOf([recordOf(DID, key)]);
    await expect(readStreamHead(head, { trust })).rejects.toThrow(/was compromised/);
    const late = Date.UTC(2027, 3, 2);
    await expect(readStreamHead(head, { trust, anchoredAt: late })).rejects.toThrow(/was compromised/);
    await expect(readStreamHead(head, { trust, anchoredAt: AT })).resolves.toEqual(head);
  });

  it('follows from one of the same second whatever fractions their times have', async () => {
    const [first, second] = await headsAt([2, 4]);
    if (first === undefined || second === undefined) throw new Error('There are two heads.');
    const evidence = await evidenceOf(2, 4, []);
    const early = { ...first, at: second.at };
    const late = { ...second, at: second.at.replace('Z', '.5Z'), previous_sha256: streamHeadHash(early) };
    expect(judgeStream({ ...evidence, heads: [early, late] })).toMatchObject({ complete: true });
  });
});
