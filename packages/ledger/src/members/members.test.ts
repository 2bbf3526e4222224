import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openSqliteStore } from '../../../store/src/sqlite.ts';
import type { Store } from '../../../store/src/store.ts';
import { leaderboard, registerMember, verifyMember } from './members.ts';
import { jobsToNextTier, SPREAD_PERCENT, tierOf } from './tiers.ts';

describe('tiers', () => {
  test.each([
    [0, 'member', 35, 100],
    [99, 'member', 35, 1],
    [100, 'member_enterprise', 40, 9_900],
    [9_999, 'member_enterprise', 40, 1],
    [10_000, 'member_scale', 50, null],
    [1e9, 'member_scale', 50, null],
  ] as const)('after %i jobs: %s', (jobs, tier, percent, left) => {
    expect(tierOf({ jobs })).toBe(tier);
    expect(SPREAD_PERCENT[tierOf({ jobs })]).toBe(percent);
    expect(jobsToNextTier(jobs)).toBe(left);
  });

  it('are none for a DID that is not registered', () => {
    expect(tierOf(null)).toBe('unregistered');
    expect(SPREAD_PERCENT.unregistered).toBe(25);
  });
});

describe('members', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-members-'));
  const did = 'did:web:agent.example';
  let store: Store;
  beforeAll(async () => {
    store = await openSqliteStore(join(folder, 'a.db'));
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('register once, and are verified', async () => {
    expect(await verifyMember(store, did)).toEqual({
      did,
      registered: false,
      tier: 'unregistered',
      spread_pct: 25,
    });
    const registered = await registerMember(store, { did, handle: 'agent-1', now: 1_800_000_000_999 });
    expect(registered).toEqual({
      did,
      handle: 'agent-1',
      registered: true,
      registered_at: '2027-01-15T08:00:00Z',
      tier: 'member',
      spread_pct: 35,
      jobs: 0,
      jobs_to_next_tier: 100,
    });
    expect(await registerMember(store, { did, handle: 'other', now: 1_900_000_000_000 })).toEqual(registered);
    expect(await verifyMember(store, did)).toEqual(registered);
    expect(await leaderboard(store, 5)).toEqual([{ rank: 1, ...registered }]);
  });

  it.each(['did:svc:anonymous', 'did:key:z6MkNobody', 'me'])('refuse %s', async (nobody) => {
    const refused = registerMember(store, { did: nobody, handle: null, now: 1_800_000_000_000 });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_did', field: 'did' });
  });

  it('refuse what is no DID or handle, and a handle of another', async () => {
    const register = (handle: string, other = 'did:web:other.example') =>
      registerMember(store, { did: other, handle, now: 0 });
    await expect(register('agent-1')).rejects.toMatchObject({ code: 'handle_taken', field: 'handle' });
    for (const handle of ['ab', 'A-b-c', '-abc', 'a--b', 'abc-', 'a'.repeat(33), 'äbc']) {
      await expect(register(handle)).rejects.toMatchObject({ code: 'invalid_field', field: 'handle' });
    }
    await expect(register('fine', 'agent')).rejects.toMatchObject({ code: 'invalid_did' });
    await expect(verifyMember(store, 'agent')).rejects.toMatchObject({ code: 'invalid_did' });
  });
});
