import type { IssuerKey, IssuerRecord } from '@tallystick/core';
import { expect, it } from 'vitest';
import { withEarlierKeys } from './earlier-keys.ts';

const NOW = Date.UTC(2027, 0, 1);
const key = (key_id: string, changes: Partial<IssuerKey> = {}): IssuerKey => ({
  key_id,
  public_key: key_id,
  purpose: 'receipt',
  state: 'active',
  valid_from: '2026-01-01T00:00:00Z',
  valid_until: null,
  revoked: null,
  ...changes,
});
const record = (did: string, status: IssuerRecord['status'], ...keys: IssuerKey[]): IssuerRecord => ({
  did,
  status,
  keys,
});

it('keeps the keys of a lost keyring, as compromised from now on, and what had already ended as it was', () => {
  const retired = key('retired', { state: 'retired', valid_until: '2026-06-01T00:00:00Z' });
  const before = [record('did:svc:own', 'verified', retired, key('lost'))];
  const found = withEarlierKeys([record('did:svc:own', 'verified', key('new'))], before, NOW);
  const lost = key('lost', {
    state: 'revoked',
    revoked: { at: '2027-01-01T00:00:00Z', reason: 'compromised' },
  });
  expect(found).toEqual([record('did:svc:own', 'verified', key('new'), retired, lost)]);
  expect(withEarlierKeys(found, found, NOW + 1000)).toEqual(found);
});

it('keeps a verified issuer that this database does not know, or only as registered; drops the registered ones', () => {
  const before = [
    record('did:svc:a', 'verified', key('a')),
    record('did:svc:b', 'verified', key('b')),
    record('did:svc:c', 'registered', key('c')),
  ];
  const squatted = record('did:svc:b', 'registered', key('squatter'));
  expect(withEarlierKeys([squatted], before, NOW)).toEqual(before.slice(0, 2));
});
