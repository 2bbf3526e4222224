import { expect, it } from 'vitest';
import { keyOf, recordOf, signerOf } from '../../test/sample-receipts.ts';
import type { TrustBundle } from './bundle.ts';
import { vanished } from './vanished.ts';

const DID = 'did:svc:example';
const signer = await signerOf(7);
const log = { origin: 'log.example', key_id: 'did:key:z6Mk', public_key: 'A'.repeat(43) };
const chain = { network: 'base', chain_id: 8453, address: '0x00000000000000000000000000000000000000aa' };
const span = { valid_from: '2026-01-01T00:00:00Z', valid_until: '2026-06-01T00:00:00Z' };
const at = (time: string, reason: 'compromised' | 'superseded' = 'compromised') => ({ at: time, reason });

type Key = Parameters<typeof keyOf>[1];
const bundleOf = (key: Key, more: object = {}): TrustBundle =>
  ({
    issued_at: '2026-04-01T00:00:00Z',
    issuers: [recordOf(DID, keyOf(signer, key))],
    log: null,
    chain: null,
    ...more,
  }) as unknown as TrustBundle;
const historyOf = (size: number | null, times: object = span) => ({
  history: {
    logs: [{ ...log, ...span, last_size: size }],
    chains: [{ origin: log.origin, ...chain, ...times }],
  },
});

const twice = { history: { logs: [5, 9].map((last_size) => ({ ...log, ...span, last_size })), chains: [] } };

const retired = (until: string) => ({ state: 'retired', valid_until: until }) as const;
const revoked = { state: 'revoked', revoked: at('2026-03-01T00:00:00Z') } as const;

it.each([
  ['nothing changed', bundleOf({}), bundleOf({}), []],
  ['a key was revoked', bundleOf({}), bundleOf(revoked), []],
  [
    'a revocation grew stricter',
    bundleOf({ ...revoked, revoked: at('2026-03-01T00:00:00Z', 'superseded') }),
    bundleOf({ ...revoked, revoked: at('2026-02-01T00:00:00Z') }),
    [],
  ],
  ['a revocation is gone', bundleOf(revoked), bundleOf({}), ['was taken back or weakened']],
  [
    'a revocation is later',
    bundleOf(revoked),
    bundleOf({ ...revoked, revoked: at('2026-03-01T00:00:01Z') }),
    ['was taken back or weakened'],
  ],
  [
    'a compromise is none any more',
    bundleOf(revoked),
    bundleOf({ ...revoked, revoked: at('2026-03-01T00:00:00Z', 'superseded') }),
    ['was taken back or weakened'],
  ],
  [
    'a key was good sooner than before',
    bundleOf({ valid_from: '2026-02-01T00:00:00Z' }),
    bundleOf({ valid_from: '2025-02-01T00:00:00Z' }),
    ['and is now from 2025-02-01T00:00:00Z on'],
  ],
  [
    'another key stands under the name',
    bundleOf({ key_id: 'receipts-1' }),
    bundleOf({ key_id: 'receipts-1', public_key: 'A'.repeat(43) }),
    ['there is another key now'],
  ],
  ['a key is for something else', bundleOf({}), bundleOf({ purpose: 'log' }), ['one for another purpose']],
  ['a key was retired since', bundleOf({}), bundleOf(retired('2026-04-01T00:01:00Z')), []],
  [
    'a key stays retired',
    bundleOf(retired('2026-03-01T00:00:00Z')),
    bundleOf({ ...retired('2026-03-01T00:00:00Z'), ...revoked }),
    [],
  ],
  [
    'a key that was in use is said to have been retired before',
    bundleOf({}),
    bundleOf(retired('2026-02-01T00:00:00Z')),
    ['was good until further notice, and is now until 2026-02-01T00:00:00Z'],
  ],
  [
    'a retired key is in use again',
    bundleOf(retired('2026-03-01T00:00:00Z')),
    bundleOf({}),
    ['was good until 2026-03-01T00:00:00Z, and is now until further notice'],
  ],
  [
    'a retired key ends later',
    bundleOf(retired('2026-03-01T00:00:00Z')),
    bundleOf(retired('2026-03-02T00:00:00Z')),
    ['and is now until 2026-03-02T00:00:00Z'],
  ],
  ['a history stays', bundleOf({}, historyOf(9)), bundleOf({}, historyOf(9)), []],
  ['the size of a log became known', bundleOf({}, historyOf(null)), bundleOf({}, historyOf(9)), []],
  [
    'a log ended sooner than before',
    bundleOf({}, historyOf(9)),
    bundleOf({}, historyOf(8)),
    ['ended with 9 leaves, and no longer counts up to them'],
  ],
  ['a log that ended twice stays', bundleOf({}, twice), bundleOf({}, twice), []],
  [
    'an account posted for a shorter time than before',
    bundleOf({}, historyOf(9)),
    bundleOf({}, historyOf(9, { ...span, valid_until: '2026-05-01T00:00:00Z' })),
    ['now counts for a shorter time'],
  ],
  [
    'an account posts again',
    bundleOf({}, historyOf(9, { ...span, valid_until: '2026-05-01T00:00:00Z' })),
    bundleOf({}, { log, chain, history: { logs: [], chains: [] } }),
    [],
  ],
])('of two bundles, names what the later one takes back: %s', (_, earlier, later, expected) => {
  expect(vanished(earlier, later)).toEqual(expected.map((part) => expect.stringContaining(part)));
});
