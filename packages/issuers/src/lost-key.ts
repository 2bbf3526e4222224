import {
  formatTimestamp,
  type IssuerKey,
  type RevocationReason,
  secondsOf,
  TallyError,
} from '@tallystick/core';
import {
  addKey,
  freshKey,
  type Keyring,
  knownPurpose,
  newRecord,
  ROTATION_GRACE,
  record,
  signerOf,
} from './keyring.ts';

/** A message that is no document of any kind: a signature of it says only that the key can sign. */
const TRIAL = new Uint8Array(1);

/**
 * Revokes the receipt key from `at` on where it can't sign its own revocation any more, such as one that was destroyed in
 * a KMS. The service's record begins anew: a new receipt key registers it, and every key that can sign comes in again with the times it
 * had. The others become keys for which the root alone vouches, in the trust bundle; those in use are replaced.
 * @param at Unix milliseconds, as `now`
 * @throws invalid_field for a key other than the active receipt key, and for one that can sign, which `revokeKey` is for;
 * unavailable where the log's key can't sign, because it can't be replaced
 */
export async function replaceLostKey(
  keyring: Keyring,
  keyId: string,
  reason: RevocationReason,
  at: number,
  now: number,
): Promise<Keyring> {
  const { document, openRemoteKey } = keyring;
  const lost = document.keys.find(({ key_id }) => key_id === keyId);
  if (lost?.purpose !== 'receipt' || lost.state !== 'active')
    throw wrong(
      `${keyId} is not the receipt key in use. Only that one signs changes: revoke another without --lost.`,
    );
  if (await canSign(keyring, keyId))
    throw wrong(`${keyId} can sign, so it signs its own revocation: leave out --lost.`);
  const receipt = freshKey('receipt');
  const revoked = { at: wholeSeconds(at), reason };
  let anew: Keyring = {
    ...keyring,
    document: await newRecord(document.did, receipt, openRemoteKey, now),
    keys: [...keyring.keys, receipt],
    earlierKeys: [...keyring.earlierKeys, { ...lost, state: 'revoked', revoked }],
  };
  for (const key of document.keys) {
    if (key === lost) continue;
    anew = (await canSign(keyring, key.key_id))
      ? await addAgain(anew, key, receipt.keyId)
      : await leaveOut(anew, key, now);
  }
  return anew;
}

async function canSign({ keys, openRemoteKey }: Keyring, keyId: string): Promise<boolean> {
  const entry = keys.find((one) => one.keyId === keyId);
  if (entry === undefined) return false;
  try {
    await signerOf(entry, openRemoteKey).sign(TRIAL);
    return true;
  } catch (error) {
    if (error instanceof TallyError) return false;
    throw error;
  }
}

/** Takes a key of the record of before into the new one, with the same times. */
async function addAgain(keyring: Keyring, key: IssuerKey, author: string): Promise<Keyring> {
  const { key_id: keyId, valid_from: from, valid_until: until, revoked } = key;
  const entry = keyring.keys.find((one) => one.keyId === keyId);
  const add = { action: 'add_key', keyId, purpose: knownPurpose(key), at: secondsOf(from) * 1000 } as const;
  let after = await record(keyring, add, author, entry);
  if (until !== null)
    after = await record(after, { action: 'retire_key', keyId, at: secondsOf(until) * 1000 }, author);
  if (revoked === null) return after;
  const { at, reason } = revoked;
  return record(after, { action: 'revoke_key', keyId, reason, at: secondsOf(at) * 1000 }, author);
}

/** Leaves a key that can't sign out of the new record. One that is in use is replaced, and retired after the time of grace. */
async function leaveOut(keyring: Keyring, key: IssuerKey, now: number): Promise<Keyring> {
  if (key.state !== 'active') return { ...keyring, earlierKeys: [...keyring.earlierKeys, key] };
  if (key.purpose === 'log')
    throw new TallyError(
      'unavailable',
      `The log’s key ${key.key_id} can’t sign, and it can’t be replaced, because it names the log. Nothing was changed.`,
    );
  const until = wholeSeconds(now + ROTATION_GRACE * 1000);
  const retired: IssuerKey = { ...key, state: 'retired', valid_until: until };
  return addKey(
    { ...keyring, earlierKeys: [...keyring.earlierKeys, retired] },
    freshKey(knownPurpose(key)),
    now,
  );
}

/**
 * Revokes a key for which the root alone vouches, from `at` on (Unix milliseconds).
 * @throws invalid_field where it is none of those, or where its revocation would become milder or later
 */
export function revokeEarlierKey(
  keyring: Keyring,
  keyId: string,
  reason: RevocationReason,
  at: number,
): Keyring {
  const key = keyring.earlierKeys.find(({ key_id }) => key_id === keyId);
  if (key === undefined) throw wrong(`${keyId} is not an earlier key of ${keyring.document.did}.`);
  const { revoked: before } = key;
  const revoked = { at: wholeSeconds(at), reason };
  const isMilder = before?.reason === 'compromised' && reason !== 'compromised';
  if (before !== null && (isMilder || secondsOf(revoked.at) > secondsOf(before.at)))
    throw wrong(
      `${keyId} was revoked at ${before.at} (${before.reason}); a revocation can only become stricter.`,
    );
  const changed: IssuerKey = { ...key, state: 'revoked', revoked };
  return { ...keyring, earlierKeys: keyring.earlierKeys.map((one) => (one === key ? changed : one)) };
}

const wholeSeconds = (ms: number): string => formatTimestamp(Math.floor(ms / 1000) * 1000);

function wrong(message: string): TallyError {
  return new TallyError('invalid_field', message, { field: 'key_id' });
}
