import { formatTimestamp, type IssuerRecord, type KeyTimes } from '@tallystick/core';

/**
 * The issuers of the next bundle, with whatever the bundle before lists and these lack: verified issuers that this database
 * does not know, or only as registered, and keys that an issuer no longer has. Nobody signed that such a key was retired,
 * so it counts as compromised from now on: only what was anchored before stays trusted.
 * @param now Unix milliseconds
 */
export function withEarlierKeys(
  issuers: readonly IssuerRecord[],
  earlier: readonly IssuerRecord[],
  now: number,
): IssuerRecord[] {
  const known = new Map(issuers.map((record) => [record.did, record]));
  for (const before of earlier.filter(({ status }) => status === 'verified')) {
    const present = known.get(before.did);
    known.set(before.did, present?.status === 'verified' ? withKeysOf(present, before, now) : before);
  }
  return [...known.values()].sort((a, b) => (a.did < b.did ? -1 : 1));
}

function withKeysOf(present: IssuerRecord, before: IssuerRecord, now: number): IssuerRecord {
  const pqKeys = kept(present.pq_keys ?? [], before.pq_keys ?? [], now);
  return {
    ...present,
    keys: kept(present.keys, before.keys, now),
    ...(pqKeys.length > 0 && { pq_keys: pqKeys }),
  };
}

function kept<K extends KeyTimes & { readonly key_id: string }>(
  keys: readonly K[],
  earlier: readonly K[],
  now: number,
): K[] {
  const present = new Set(keys.map(({ key_id }) => key_id));
  return [...keys, ...earlier.filter(({ key_id }) => !present.has(key_id)).map((key) => ended(key, now))];
}

function ended<K extends KeyTimes>(key: K, now: number): K {
  if (key.state !== 'active') return key;
  const at = formatTimestamp(Math.floor(now / 1000) * 1000);
  return { ...key, state: 'revoked', revoked: { at, reason: 'compromised' } };
}
