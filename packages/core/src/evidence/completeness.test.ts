import { beforeAll, describe, expect, it } from 'vitest';
import {
  AT,
  billAt,
  goodFiles,
  type Made,
  makeIssuer,
  manifestOf,
  partOf,
  receiptAt,
  sourceOf,
  streamFiles,
  zipOf,
} from '../../test/evidence-bundle.ts';
import { utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { anchoredHash } from '../index.ts';
import { parseJson } from '../json/parse.ts';
import type { StreamVerdict } from '../streams/verify-stream.ts';
import { verifyBundle } from './verify-bundle.ts';

const DAY = 86_400;
/** First second of February 2027, which is the period of the bundles. */
const FROM = Date.UTC(2027, 1, 1) / 1000;
const SINCE = FROM - 20 * DAY;
const issuer = await makeIssuer();
const others = (await goodFiles(issuer)).slice(0, 3);
/** Two receipts that were issued before the period, and six of its first six days, in the order of the stream. */
const before = [0, 1].map((index) => sha256Hex(utf8(`before ${index}`)));
let receipts: string[];
let hashes: string[];
beforeAll(async () => {
  const days = [0, 1, 2, 3, 4, 5];
  receipts = await Promise.all(
    days.map((day) => receiptAt(issuer.receipt, FROM + day * DAY + 3600, `00000000000${day}`)),
  );
  hashes = [...before, ...receipts.map(hashOf)];
});

const hashOf = (text: string): string => anchoredHash(parseJson(utf8(text)));

async function judged(
  given: readonly string[],
  stream: Parameters<typeof streamFiles>[2],
  list = hashes,
  period = { from: '2027-02-01T00:00:00Z', to: '2027-03-01T00:00:00Z' },
): Promise<StreamVerdict | null> {
  const metering = given.filter((text) => text.includes('"sls.metering"')).length;
  const parts: Made[] = given.length === 0 ? [] : partOf(1, given);
  const files = [...others, ...parts, ...(await streamFiles(issuer, list, stream))];
  const manifest = await manifestOf(issuer, files, (facts) => ({
    ...facts,
    period,
    receipts: given.length,
    metering,
  }));
  const verdict = await verifyBundle(sourceOf(zipOf([manifest, ...files])), { now: AT + 1000 });
  return verdict.completeness;
}

/** The head before the period, one of each day, and the last one. */
const heads: [count: number, at: number][] = [
  [2, FROM - 3600],
  [4, FROM + 2 * DAY],
  [6, FROM + 4 * DAY],
  [8, FROM + 6 * DAY],
];

describe('a bundle with heads', () => {
  it('is complete with all that they count', async () => {
    const verdict = await judged(receipts, { heads, first: 3, since: SINCE });
    expect(verdict).toMatchObject({ complete: true, first: 3, last: 8, given: 6, uncounted: 0, faults: [] });
  });

  it('is complete from the beginning of a stream that was opened within the period', async () => {
    const own = { heads: heads.slice(1).map(([count, at]) => [count - 2, at] as [number, number]), first: 1 };
    const verdict = await judged(receipts, { ...own, since: FROM }, hashes.slice(2));
    expect(verdict).toMatchObject({ complete: true, first: 1, last: 6, given: 6, faults: [] });
  });

  it('is not complete where every receipt and hash that they count was left out', async () => {
    const verdict = await judged([], { heads, first: 9, since: SINCE });
    expect(verdict).toMatchObject({ complete: false, first: 3, last: 8 });
  });

  it.each([
    ['whose hashes begin at a later head than its first', { heads, first: 5 }],
    ['whose first head was signed within the period', { heads: heads.slice(1), first: 5 }],
  ])('is refused %s, with what comes before left out', async (_, stream) => {
    await expect(judged(receipts.slice(2), { ...stream, since: SINCE })).rejects.toMatchObject({
      reason: 'stream_invalid',
      message: expect.stringContaining('the hashes begin at 5, and no head from before the period'),
    });
  });

  it('is complete with hashes of receipts from before the period, which are named', async () => {
    const verdict = await judged(receipts, { heads: heads.slice(1), first: 1, since: SINCE });
    const absent = [1, 2].map((index) => expect.objectContaining({ index, reason: 'before the period' }));
    expect(verdict).toMatchObject({ complete: true, first: 1, last: 8, given: 6, absent });
  });

  it('is not complete without a receipt that follows one of the period, though its first head is days later', async () => {
    const given = receipts.filter((_, day) => day !== 1);
    const verdict = await judged(given, { heads, first: 3, since: SINCE });
    expect(verdict).toMatchObject({ complete: false, faults: [{ kind: 'left_out', index: 4 }] });
  });

  it.each([
    ['is not complete without receipts younger than all that the records of purges count', 20, false],
    ['is complete without as many receipts as records of purges count that may be of them', 31, true],
  ])('%s', async (_, days, complete) => {
    const since = Date.UTC(2027, 1, 1) / 1000 - days * DAY;
    const period = { from: new Date((since + DAY) * 1000).toISOString(), to: '2027-03-01T00:00:00Z' };
    const stream: [number, number][] = [
      [1, since + 2 * DAY],
      [2, AT / 1000 - 30 * DAY],
      [8, FROM + 6 * DAY],
    ];
    const verdict = await judged(receipts, { heads: stream, first: 1, since }, hashes, period);
    expect(verdict).toMatchObject({ complete, given: 6 });
    expect(verdict?.faults.map(({ kind }) => kind)).toEqual(complete ? [] : ['left_out']);
  });

  it('is refused without the heads before its last one, by which receipts of the period are not from before it', async () => {
    const stream = { heads, first: 1, since: SINCE, leftOut: 3 };
    await expect(judged(receipts.slice(0, 2), stream)).rejects.toMatchObject({
      reason: 'stream_invalid',
      message: expect.stringContaining('the head before the first one is left out'),
    });
  });

  it('is refused with a head from before the period alone, which says nothing of the period', async () => {
    const stream = { heads: heads.slice(0, 1), first: 3, since: SINCE };
    await expect(judged(receipts.slice(2), stream)).rejects.toMatchObject({ reason: 'stream_invalid' });
  });

  describe('whose last head is from after the period', () => {
    const END = Date.UTC(2027, 2, 1) / 1000;
    const after = [0, 1].map((index) => sha256Hex(utf8(`after ${index}`)));
    const all = [...heads.slice(0, 3), [10, END + 60]] as [number, number][];
    const judgedAfter = (given: readonly string[], ofHeads = all) =>
      judged(given, { heads: ofHeads, first: 3, since: SINCE }, [...hashes, ...after]);

    it('is complete with the hashes of what was issued after it, which are named', async () => {
      const absent = [9, 10].map((index) => expect.objectContaining({ index, reason: 'after the period' }));
      expect(await judgedAfter(receipts)).toMatchObject({ complete: true, last: 10, given: 6, absent });
    });

    it('is not complete without a receipt that a head within the period counts', async () => {
      const verdict = await judgedAfter(receipts.slice(0, 3));
      expect(verdict).toMatchObject({ complete: false, faults: [{ kind: 'left_out', index: 6 }] });
      expect(verdict?.absent.map(({ index }) => index)).toEqual([7, 8, 9, 10]);
    });

    it('is not complete without a receipt that comes before another one of the period', async () => {
      const verdict = await judgedAfter(receipts.filter((_, day) => day !== 4));
      expect(verdict).toMatchObject({ complete: false, faults: [{ kind: 'left_out', index: 7 }] });
    });

    it('is not complete without its last receipt where the last head is from its last second', async () => {
      const within = [...heads.slice(0, 3), [10, END - 1]] as [number, number][];
      const verdict = await judgedAfter(receipts, within);
      expect(verdict?.faults.map(({ index }) => index)).toEqual([9, 10]);
    });
  });

  it('is complete with a bill that was stored after the last head and compiled before', async () => {
    const bill = await billAt(issuer.receipt, FROM + 3 * DAY);
    const verdict = await judged([...receipts, bill], { heads, first: 3, since: SINCE });
    expect(verdict).toMatchObject({ complete: true, given: 6, uncounted: 1, faults: [] });
  });
});
