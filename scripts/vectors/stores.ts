import { type IssuerKey, type IssuerRecord, toBase64url } from '../../packages/core/src/index.ts';
import { type KeyName, signers } from './keys.ts';
import { pqKey } from './pq-keys.ts';

export const SERVICE_DID = 'did:svc:example';
export const ACME_DID = 'did:svc:acme';
export const OPERATOR_DID = 'did:svc:operator';
/** A key id that does not contain its key. */
export const NAMED_KEY_ID = `${SERVICE_DID}:2026`;

export const VALID_FROM = '2025-01-01T00:00:00Z';
/** Time at which the retired key ended, and the revoked and the compromised one were revoked. */
export const ENDED_AT = '2025-07-01T00:00:00Z';

function key(name: KeyName, changes: Partial<IssuerKey> = {}): IssuerKey {
  return {
    key_id: signers[name].keyId,
    public_key: toBase64url(signers[name].publicKey),
    purpose: 'receipt',
    state: 'active',
    valid_from: VALID_FROM,
    valid_until: null,
    revoked: null,
    ...changes,
  };
}

const service: IssuerRecord = {
  did: SERVICE_DID,
  status: 'verified',
  keys: [
    key('service'),
    key('retired', { state: 'retired', valid_until: ENDED_AT }),
    key('revoked', { state: 'revoked', revoked: { at: ENDED_AT, reason: 'superseded' } }),
    key('compromised', { state: 'revoked', revoked: { at: ENDED_AT, reason: 'compromised' } }),
    key('pending', { state: 'pending' }),
    key('undated', { state: 'retired' }),
    key('undated-revoked', { state: 'revoked' }),
    key('named', { key_id: NAMED_KEY_ID }),
    key('log', { purpose: 'log' }),
    key('benchmark', { purpose: 'benchmark' }),
    key('status', { purpose: 'status' }),
  ],
  pq_keys: [
    pqKey('service'),
    pqKey('retired', { state: 'retired', valid_until: ENDED_AT }),
    pqKey('compromised', {
      state: 'revoked',
      revoked: { at: '2026-01-15T11:30:00Z', reason: 'compromised' },
    }),
  ],
};

export const records = {
  service,
  acme: { did: ACME_DID, status: 'registered', keys: [key('acme')] },
  operator: { did: OPERATOR_DID, status: 'verified', keys: [key('operator')] },
} as const satisfies Record<string, IssuerRecord>;

/** What the verifier of a case knows: each case names one of these. */
export const stores = {
  known: [records.service, records.acme, records.operator],
  empty: [],
} as const satisfies Record<string, readonly IssuerRecord[]>;

export type StoreName = keyof typeof stores;
