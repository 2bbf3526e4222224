import { CLOCK_SKEW } from '../receipts/family.ts';
import { secondsOf } from '../time.ts';
import { type KnownLog, type KnownPoster, logsOf, postersOf } from './authority.ts';
import type { TrustBundle } from './bundle.ts';

type Issuer = TrustBundle['issuers'][number];
type Key = Issuer['keys'][number] | NonNullable<Issuer['pq_keys']>[number];

/**
 * What an earlier bundle lists and a later one neither lists nor has in its history: logs, posting accounts, keys of verified
 * issuers, and their revocations; and what the later one says otherwise of them and of their times. One sentence each.
 */
export function vanished(earlier: TrustBundle, later: TrustBundle): string[] {
  const logs = new Set(logsOf([later]).map(({ origin, public_key }) => `${origin} ${public_key}`));
  const accounts = new Set(postersOf([later]).map(nameOf));
  const keys = new Map(later.issuers.flatMap((record) => keysOf(record)));
  const verified = earlier.issuers.filter(({ status }) => status === 'verified');
  const listed = verified.flatMap((record) => keysOf(record));
  const gone = [
    ...logsOf([earlier])
      .filter(({ origin, public_key }) => !logs.has(`${origin} ${public_key}`))
      .map(({ origin, key_id }) => `The log ${origin} with the key ${key_id}`),
    ...postersOf([earlier])
      .filter((poster) => !accounts.has(nameOf(poster)))
      .map(
        ({ address, network, origin }) => `The account ${address} on ${network}, which posted for ${origin}`,
      ),
    ...listed.filter(([name]) => !keys.has(name)).map(([name]) => `The key ${name}`),
  ].map((what) => `${what} is neither listed any more nor in the history.`);
  const changed = listed.flatMap(([name, key]) =>
    changesOf(name, key, keys.get(name) ?? key, secondsOf(earlier.issued_at)),
  );
  return [...gone, ...changed, ...narrowed(earlier, later)];
}

/** Revocations that an earlier bundle has and a later one, which lists the same key, takes back or weakens: one sentence each. */
export function revocationsTakenBack(earlier: TrustBundle, later: TrustBundle): string[] {
  const keys = new Map(later.issuers.flatMap((record) => keysOf(record)));
  return earlier.issuers
    .flatMap((record) => keysOf(record))
    .flatMap(([name, key]) => revocationFault(name, key, keys.get(name) ?? key));
}

function revocationFault(name: string, { revoked: before }: Key, { revoked: now }: Key): string[] {
  const isKept =
    before === null ||
    (now !== null &&
      secondsOf(now.at) <= secondsOf(before.at) &&
      (before.reason !== 'compromised' || now.reason === 'compromised'));
  return isKept ? [] : [`The revocation of the key ${name}, at ${before.at}, was taken back or weakened.`];
}

/**
 * What is said otherwise of a key: which it is and what for, when it is good, and that it was revoked, which nothing takes back.
 * @param listedAt when the earlier bundle was issued, in Unix seconds: a key that was in use then can't have been retired before
 */
function changesOf(name: string, before: Key, now: Key, listedAt: number): string[] {
  const isKept =
    before.valid_until === now.valid_until ||
    (before.valid_until === null &&
      now.valid_until !== null &&
      secondsOf(now.valid_until) >= listedAt - CLOCK_SKEW);
  return [
    ...(before.public_key === now.public_key && purposeOf(before) === purposeOf(now)
      ? []
      : [`Under the name of the key ${name}, there is another key now, or one for another purpose.`]),
    ...(isKept ? [] : [`The key ${name} was good until ${endOf(before)}, and is now until ${endOf(now)}.`]),
    ...revocationFault(name, before, now),
    ...(before.valid_from === now.valid_from
      ? []
      : [`The key ${name} was good from ${before.valid_from} on, and is now from ${now.valid_from} on.`]),
  ];
}

const endOf = ({ valid_until }: Key): string => valid_until ?? 'further notice';
const purposeOf = (key: Key): string => ('purpose' in key ? key.purpose : key.alg);

/** Logs and accounts of the history with which less counts than before. */
function narrowed({ history: earlier }: TrustBundle, later: TrustBundle): string[] {
  const [logs, posters] = [logsOf([later]), postersOf([later])];
  return [
    ...(earlier?.logs ?? [])
      .filter(({ origin, public_key, last_size: size }) => {
        const same = logs.filter((log) => log.origin === origin && log.public_key === public_key);
        const counts = ({ last_size: now }: KnownLog): boolean =>
          size === null || now === undefined || (now !== null && now >= size);
        return same.length > 0 && !same.some(counts);
      })
      .map(
        ({ origin, last_size }) =>
          `The log ${origin} ended with ${last_size} leaves, and no longer counts up to them.`,
      ),
    ...(earlier?.chains ?? [])
      .filter((account) => {
        const same = posters.filter((poster) => nameOf(poster) === nameOf(account));
        return same.length > 0 && !same.some((poster) => covers(poster, account));
      })
      .map(({ address, network }) => `The account ${address} on ${network} now counts for a shorter time.`),
  ];
}

/** Whether the one was in use for all the time in which the other was. */
function covers({ valid_from: from = null, valid_until: until }: KnownPoster, other: KnownPoster): boolean {
  const begin = other.valid_from ?? null;
  return (
    until === undefined ||
    ((from === null || (begin !== null && secondsOf(from) <= secondsOf(begin))) &&
      other.valid_until !== undefined &&
      secondsOf(until) >= secondsOf(other.valid_until))
  );
}

const nameOf = ({ origin, network, chain_id, address }: KnownPoster): string =>
  JSON.stringify([origin, network, chain_id, address.toLowerCase()]);

function keysOf({ did, keys, pq_keys = [] }: Issuer): [name: string, key: Key][] {
  return [...keys, ...pq_keys].map((key) => [`${key.key_id} of ${did}`, key]);
}
