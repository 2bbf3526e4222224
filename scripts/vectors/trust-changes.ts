import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { signers } from './keys.ts';
import { pqKey } from './pq-keys.ts';
import { SERVICE_DID, VALID_FROM } from './stores.ts';
import { bundle } from './trust.ts';

/** Two bundles of one root, and what the later one takes back. Their signatures do not hold: nothing here looks at them. */
export interface TrustChangeCase {
  readonly name: string;
  readonly earlier: JsonObject;
  readonly later: JsonObject;
  /** A sentence for each thing that the later bundle takes back. */
  readonly expected: readonly string[];
}

const KEY = `The key ${signers.service.keyId} of ${SERVICE_DID}`;
const REVOCATION = `The revocation of the key ${signers.service.keyId} of ${SERVICE_DID}, at`;
const DECEMBER = '2025-12-01T00:00:00Z';

/** Cases in which both bundles are issued at 2026-01-01T00:00:00Z. */
export async function trustChangeCases(): Promise<TrustChangeCase[]> {
  const [two, three] = [await bundle(2), await bundle(3)];
  const { log = null, chain = null } = two;
  const change = (
    name: string,
    [before, after]: readonly [earlier: JsonObject, later: JsonObject],
    ...expected: readonly string[]
  ): TrustChangeCase => ({
    name,
    earlier: { ...two, log: null, chain: null, ...before },
    later: { ...three, log: null, chain: null, ...after },
    expected,
  });
  const pq = (revoked: JsonObject | null): JsonObject =>
    issuers({}, { pq_keys: [{ ...pqKey('service'), revoked }] });
  const pqName = `${pqKey('service').key_id} of ${SERVICE_DID}`;
  const origin = 'receipts.example/log';
  const account = `0x${'00'.repeat(19)}aa`;
  return [
    change('nothing changed', [keyed(), keyed()]),
    change('a key was revoked', [keyed(), keyed(revoked())]),
    change('a revocation grew stricter', [
      keyed(revoked(DECEMBER, 'superseded')),
      keyed(revoked('2025-11-30T23:59:59Z')),
    ]),
    change(
      'a revocation is gone',
      [keyed(revoked()), keyed()],
      `${REVOCATION} ${DECEMBER}, was taken back or weakened.`,
    ),
    change(
      'a revocation is later',
      [keyed(revoked()), keyed(revoked('2025-12-01T00:00:01Z'))],
      `${REVOCATION} ${DECEMBER}, was taken back or weakened.`,
    ),
    change(
      'a compromise is none any more',
      [keyed(revoked()), keyed(revoked(DECEMBER, 'superseded'))],
      `${REVOCATION} ${DECEMBER}, was taken back or weakened.`,
    ),
    change(
      'the revocation of an ML-DSA key is gone',
      [pq({ at: DECEMBER, reason: 'compromised' }), pq(null)],
      `The revocation of the key ${pqName}, at ${DECEMBER}, was taken back or weakened.`,
    ),
    change(
      'a key is gone',
      [keyed(), { issuers: [] }],
      `${KEY} is neither listed any more nor in the history.`,
    ),
    change('a key of an issuer that is only registered is gone', [
      issuers({}, { status: 'registered' }),
      { issuers: [] },
    ]),
    change(
      'a key was good sooner than before',
      [keyed(), keyed({ valid_from: '2024-01-01T00:00:00Z' })],
      `${KEY} was good from ${VALID_FROM} on, and is now from 2024-01-01T00:00:00Z on.`,
    ),
    change(
      'another key stands under the name',
      [keyed(), keyed({ public_key: toBase64url(signers.stranger.publicKey) })],
      `Under the name of the key ${signers.service.keyId} of ${SERVICE_DID}, there is another key now, or one for another purpose.`,
    ),
    change(
      'a key is for something else',
      [keyed(), keyed({ purpose: 'log' })],
      `Under the name of the key ${signers.service.keyId} of ${SERVICE_DID}, there is another key now, or one for another purpose.`,
    ),
    change('a key was retired since', [keyed(), keyed(retired('2026-01-01T00:01:00Z'))]),
    change('a key was retired as far before as clocks may differ', [
      keyed(),
      keyed(retired('2025-12-31T23:55:00Z')),
    ]),
    change(
      'a key that was in use is said to have been retired before',
      [keyed(), keyed(retired('2025-12-31T23:54:59Z'))],
      `${KEY} was good until further notice, and is now until 2025-12-31T23:54:59Z.`,
    ),
    change('a key stays retired', [keyed(retired(DECEMBER)), keyed({ ...retired(DECEMBER), ...revoked() })]),
    change(
      'a retired key is in use again',
      [keyed(retired(DECEMBER)), keyed()],
      `${KEY} was good until ${DECEMBER}, and is now until further notice.`,
    ),
    change(
      'a retired key ends later',
      [keyed(retired(DECEMBER)), keyed(retired('2025-12-02T00:00:00Z'))],
      `${KEY} was good until ${DECEMBER}, and is now until 2025-12-02T00:00:00Z.`,
    ),
    change(
      'everything of a key changed',
      [
        keyed({ ...retired(DECEMBER), ...revoked() }),
        keyed({ purpose: 'log', valid_from: '2024-01-01T00:00:00Z' }),
      ],
      `Under the name of the key ${signers.service.keyId} of ${SERVICE_DID}, there is another key now, or one for another purpose.`,
      `${KEY} was good until ${DECEMBER}, and is now until further notice.`,
      `${REVOCATION} ${DECEMBER}, was taken back or weakened.`,
      `${KEY} was good from ${VALID_FROM} on, and is now from 2024-01-01T00:00:00Z on.`,
    ),
    change('a log and an account stay', [
      { log, chain },
      { log, chain },
    ]),
    change('a log and an account went into the history', [{ log, chain }, past({ last_size: 9 })]),
    change('an account is written in other letters', [
      { log, chain },
      past({ last_size: 9, address: `0x${'00'.repeat(19)}AA` }),
    ]),
    change(
      'a log and an account are gone',
      [{ log, chain }, {}],
      `The log ${origin} with the key ${signers.log.keyId} is neither listed any more nor in the history.`,
      `The account ${account} on base, which posted for ${origin} is neither listed any more nor in the history.`,
    ),
    change('the number of a log’s leaves became known', [past({ last_size: null }), past({ last_size: 9 })]),
    change(
      'a log ended sooner than before',
      [past({ last_size: 9 }), past({ last_size: 8 })],
      `The log ${origin} ended with 9 leaves, and no longer counts up to them.`,
    ),
    change(
      'the number of a log’s leaves is not known any more',
      [past({ last_size: 9 }), past({ last_size: null })],
      `The log ${origin} ended with 9 leaves, and no longer counts up to them.`,
    ),
    change('a log that ended twice stays', [both(5, 9), both(5, 9)]),
    change('a log grows again', [past({ last_size: 9 }), { log, chain, history: { logs: [], chains: [] } }]),
    change(
      'an account posted for a shorter time than before',
      [past({ last_size: 9 }), past({ last_size: 9, valid_until: '2025-05-01T00:00:00Z' })],
      `The account ${account} on base now counts for a shorter time.`,
    ),
    change(
      'an account posted from a later time on than before',
      [past({ last_size: 9, valid_from: null }), past({ last_size: 9 })],
      `The account ${account} on base now counts for a shorter time.`,
    ),
    change('an account posted for a longer time than before', [
      past({ last_size: 9 }),
      past({ last_size: 9, valid_from: null, valid_until: DECEMBER }),
    ]),
  ];
}

function issuers(key: JsonObject, more: JsonObject = {}): JsonObject {
  const listed = {
    key_id: signers.service.keyId,
    public_key: toBase64url(signers.service.publicKey),
    purpose: 'receipt',
    state: 'active',
    valid_from: VALID_FROM,
    valid_until: null,
    revoked: null,
  };
  return { issuers: [{ did: SERVICE_DID, status: 'verified', keys: [{ ...listed, ...key }], ...more }] };
}

const keyed = (key: JsonObject = {}): JsonObject => issuers(key);
const retired = (until: string): JsonObject => ({ state: 'retired', valid_until: until });

function revoked(at = DECEMBER, reason = 'compromised'): JsonObject {
  return { state: 'revoked', revoked: { at, reason } };
}

/** A log and its account that are no longer in use. */
function past(changes: { last_size: number | null; address?: string } & JsonObject): JsonObject {
  const { last_size, address = `0x${'00'.repeat(19)}aa`, ...times } = changes;
  const origin = 'receipts.example/log';
  const span = { valid_from: VALID_FROM, valid_until: '2025-06-01T00:00:00Z', ...times };
  const key = { key_id: signers.log.keyId, public_key: toBase64url(signers.log.publicKey) };
  return {
    history: {
      logs: [{ origin, ...key, last_size, ...span }],
      chains: [{ origin, network: 'base', chain_id: 8453, address, ...span }],
    },
  };
}

/** A log that ended, grew again and ended again. */
function both(...sizes: readonly number[]): JsonObject {
  const logs = sizes.flatMap((last_size) => {
    const { history } = past({ last_size }) as { history: { logs: JsonObject[] } };
    return history.logs;
  });
  return { history: { logs, chains: [] } };
}
