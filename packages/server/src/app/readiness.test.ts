import { TallyError } from '@tallystick/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LogStatus } from '../../../log/src/anchor-log.ts';
import { Readiness } from './readiness.ts';

const never = (): Promise<never> => new Promise(() => {});
const allWell = { store: 'ok', log: 'ok', posting: 'ok', chain: 'ok' };

let status: LogStatus;
let consume: () => Promise<{ allowed: boolean; used: number }>;
let readStatus: () => Promise<LogStatus>;
let fault: string;
let chain: string;
let readiness: Readiness;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  status = {
    origin: 'log.example',
    accepted: 5,
    treeSize: 5,
    anchoredSize: 5,
    nextPostingAt: 10,
    overdueSeconds: 0,
    oldestUnanchoredSeconds: 0,
    accepting: 'ok',
    posting: 'ok',
    leading: true,
  };
  consume = async () => ({ allowed: true, used: 1 });
  readStatus = async () => status;
  fault = 'ok';
  chain = 'ok';
  readiness = new Readiness({
    store: { consume: () => consume() },
    log: { status: () => readStatus(), ready: async () => fault },
    period: 10,
    chain: () => chain,
    clock: () => 0,
  });
  await readiness.start();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1000);

it('is ready while writes commit, the log is read and its head moves', async () => {
  for (let second = 0; second < 30; second += 2) {
    await pass(2);
    status = { ...status, accepted: status.accepted + 10, treeSize: status.treeSize + 5 };
    expect(await readiness.checks()).toEqual(allWell);
  }
});

it('tells within ten seconds that writes hang, and that they do no more', async () => {
  const hang = Promise.withResolvers<{ allowed: boolean; used: number }>();
  consume = () => hang.promise;
  await pass(9);
  expect(await readiness.checks()).toEqual({
    ...allWell,
    store: expect.stringMatching(/^No write has been committed for \d+ s\.$/),
  });
  hang.resolve({ allowed: true, used: 1 });
  await pass(0);
  expect(await readiness.checks()).toEqual(allWell);
});

it('tells at the next look that a write fails', async () => {
  consume = () => Promise.reject(new TallyError('unavailable', 'The disk is full.'));
  await pass(2);
  expect((await readiness.checks()).store).toMatch(/^No write/);
});

it('tells within ten seconds that the log is not read', async () => {
  readStatus = never;
  await pass(9);
  expect((await readiness.checks()).log).toMatch(/^The log has not been read for \d+ s\.$/);
});

it('tells within ten seconds that the head stands still over accepted hashes', async () => {
  status = { ...status, accepted: 6 };
  await pass(10);
  expect((await readiness.checks()).log).toMatch(/^No checkpoint covers the newest hashes/);
  status = { ...status, treeSize: 6 };
  await pass(2);
  expect(await readiness.checks()).toEqual(allWell);
});

it('tells of a fault of the log, of a posting that is too late, and of the chain', async () => {
  fault = 'A tile is wrong.';
  chain = 'The development chain stopped and is being restarted.';
  status = { ...status, overdueSeconds: 120 };
  await pass(2);
  expect(await readiness.checks()).toEqual({ ...allWell, log: fault, chain });
  status = { ...status, overdueSeconds: 121 };
  await pass(2);
  expect((await readiness.checks()).posting).toBe('A posting is overdue by 121 s.');
});
