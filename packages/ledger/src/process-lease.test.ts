import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../store/src/sqlite.ts';
import type { Store } from '../../store/src/store.ts';
import { openProcessLease } from './process-lease.ts';

const SECONDS = 30;
const logger = { warn: (fault: unknown) => expect.fail(JSON.stringify(fault)) };

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tally-lease-'));
  store = await openSqliteStore(join(folder, 'tally.db'));
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Whether the process counts as alive, as another one sees it that wants a key that it has claimed. */
async function isLive(process: string): Promise<unknown> {
  const claim = { scope: 's', requestHash: 'a' };
  await store.claims.take({ ...claim, process, token: 'its' });
  const outcome = await store.claims.take({ ...claim, process: 'another', token: 'ours' });
  return outcome.kind === 'held' && outcome.live;
}

describe('the lease of a process', () => {
  it('runs from its opening to its closing', async () => {
    const lease = await openProcessLease({ store, seconds: SECONDS, logger });
    expect(await isLive(lease.id)).toBe(true);
    await lease.close();
    expect(await isLive(lease.id)).toBe(false);
  });

  it('is each process’s own', async () => {
    const leases = [1, 2].map(() => openProcessLease({ store, seconds: SECONDS, logger }));
    const [one, other] = await Promise.all(leases);
    expect(one?.id).not.toBe(other?.id);
    await one?.close();
    expect(await isLive(other?.id ?? '')).toBe(true);
    await other?.close();
  });

  it('is renewed before anything else where it may have run out', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const lease = await openProcessLease({ store, seconds: SECONDS, logger });
    await store.claims.endLease(lease.id);
    vi.advanceTimersByTime(SECONDS * 1_000 - 1);
    await lease.ensure();
    expect(await isLive(lease.id)).toBe(false);
    vi.advanceTimersByTime(1);
    await lease.ensure();
    expect(await isLive(lease.id)).toBe(true);
    await lease.close();
  });
});
