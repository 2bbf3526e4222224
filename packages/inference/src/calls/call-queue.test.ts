import { TallyError } from '@tallystick/core';
import { expect, it } from 'vitest';
import { CallQueue } from './call-queue.ts';
import type { NewCall } from './call-store.ts';
import { CallTrail } from './call-trail.ts';
import type { EndedCall } from './ended-call.ts';

function ended(id: string): EndedCall {
  return {
    id,
    owner: 'caller:a',
    at: 1,
    receiptId: id,
    model: null,
    requestedModel: 'auto',
    provider: null,
    routeReason: null,
    stream: 0,
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    cost: 0n,
    saving: 0n,
    firstByteMs: null,
    totalMs: 1.6,
    status: 200,
    errorCode: null,
    did: null,
    key: null,
    session: null,
    tags: { team: 'search' },
    requestHash: null,
    trail: new CallTrail(),
    billing: null,
    compression: null,
  };
}

/** A queue before a database that `put` stands for. */
function queue(put: (calls: readonly NewCall[]) => Promise<void>) {
  const seen = { unlisted: 0, warnings: 0 };
  const calls = new CallQueue({
    store: { put },
    metrics: { unlisted: (count) => void (seen.unlisted += count) },
    storms: { admits: () => true },
    logger: { warn: () => void (seen.warnings += 1) } as never,
  });
  return { calls, seen };
}

const away = (): TallyError => new TallyError('unavailable', 'The database is away.');

it('writes the calls in the order in which they ended, at most a hundred at once', async () => {
  const written: NewCall[][] = [];
  const { calls, seen } = queue(async (rows) => void written.push([...rows]));
  for (let at = 0; at < 250; at += 1) calls.push(ended(`c${at}`));
  await calls.flush();
  expect(written.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(written.flat().map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, at) => `c${at}`));
  expect(written[0]?.[0]).toMatchObject({ tags: '{"team":"search"}', totalMs: 2 });
  expect([calls.takeDropped(), seen.unlisted]).toEqual([0, 0]);
});

it('writes a call as it was when it ended', async () => {
  const written: NewCall[] = [];
  const { calls } = queue(async (rows) => void written.push(...rows));
  const call = ended('c');
  calls.push(call);
  call.trail.ends('settle', performance.now());
  await calls.flush();
  expect(JSON.parse(written[0]?.detail ?? '')).toMatchObject({ timeline: [] });
});

it('keeps 10,000 calls while the database is away, and counts those that come then as dropped', async () => {
  let isAway = true;
  const written: string[] = [];
  const { calls, seen } = queue(async (rows) => {
    if (isAway) throw away();
    written.push(...rows.map(({ id }) => id));
  });
  for (let at = 0; at < 10_003; at += 1) calls.push(ended(`c${at}`));
  await calls.flush();
  expect([written.length, seen.unlisted, seen.warnings]).toEqual([0, 3, 1]);
  isAway = false;
  await calls.flush();
  expect([written.length, written.at(-1)]).toEqual([10_000, 'c9999']);
  expect([calls.takeDropped(), calls.takeDropped()]).toEqual([3, 0]);
});

it('drops a call that the database refuses, and that one alone', async () => {
  const written: string[] = [];
  const { calls, seen } = queue(async (rows) => {
    if (rows.some(({ id }) => id === 'bad')) throw new Error('a text with a zero byte');
    written.push(...rows.map(({ id }) => id));
  });
  for (const id of ['a', 'bad', 'b']) calls.push(ended(id));
  await calls.flush();
  expect(written).toEqual(['a', 'b']);
  expect([calls.takeDropped(), seen.unlisted]).toEqual([1, 1]);
});

it('drops nothing where the database goes away between two calls that are written alone', async () => {
  let puts = 0;
  const written = new Set<string>();
  const { calls } = queue(async (rows) => {
    puts += 1;
    if (puts === 1) throw new Error('a row that cannot be');
    if (puts === 3) throw away();
    for (const { id } of rows) written.add(id);
  });
  for (const id of ['a', 'b', 'c']) calls.push(ended(id));
  await calls.flush();
  expect([...written]).toEqual(['a']);
  await calls.flush();
  expect([...written]).toEqual(['a', 'b', 'c']);
  expect(calls.takeDropped()).toBe(0);
});
