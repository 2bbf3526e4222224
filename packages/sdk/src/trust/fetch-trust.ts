import { TallyError, takenBack } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type CheckedTrust, type CheckTrustOptions, checkTrust } from './check-trust.ts';
import { pinIn, type TrustStore } from './trust-store.ts';

export type FetchTrustParams = Pick<CheckTrustOptions, 'root' | 'pin'>;

/** Trust that was fetched just now. */
export interface FetchedTrust extends CheckedTrust {
  /**
   * What the bundle takes back of the one that the store had: a revocation, a key, a log, an account, or a time that it said of them. One
   * sentence each, for people to read. An honest service takes nothing back. If the store's bundle is damaged, the one sentence says so.
   */
  readonly takenBack: readonly string[];
}

/**
 * Fetches the service's trust bundle, checks it, and saves it in `store`. The pin is the given one, else the
 * store's. Without a pin the first root seen is accepted: give `root`, or compare `pin.root` with what you know.
 * @throws ServiceError (trust_unavailable), and as `checkTrust`; trust_invalid if the store's pin is damaged and none is given. Then nothing
 * is saved
 */
export async function fetchTrust(
  transport: Transport,
  store: TrustStore,
  { root, pin }: FetchTrustParams = {},
  call?: CallOptions,
): Promise<FetchedTrust> {
  const { text } = await transport.get('/.well-known/trust.json', call);
  // The pin is loaded after the fetch, so that a slow fetch does not undo what a quicker one saved.
  const saved = await store.load();
  const checked = await checkTrust(text, { root, pin: pin ?? pinIn(saved) });
  const named = saved ? takenBack(saved, checked.bundle) : [];
  await store.save({ pin: checked.pin, bundle: checked.bundle });
  return { ...checked, takenBack: named };
}

/**
 * Fetches the trust bundle of a version as it was published, and checks it but for its expiry: it must be of the given root,
 * else of the one that the store has pinned. Nothing is saved.
 * @throws ServiceError (trust_not_found), and as `checkTrust`
 */
export async function trustVersion(
  transport: Transport,
  store: TrustStore,
  version: number,
  { root }: Pick<FetchTrustParams, 'root'> = {},
  call?: CallOptions,
): Promise<CheckedTrust> {
  const { text } = await transport.get(`/.well-known/trust/${version}.json`, call);
  const checked = await checkTrust(text, { root: root ?? pinIn(await store.load())?.root, now: 0 });
  if (checked.bundle.version === version) return checked;
  throw new TallyError(
    'trust_invalid',
    `The bundle is of version ${checked.bundle.version}, not ${version}.`,
  );
}
