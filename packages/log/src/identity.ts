import { type LogKey, TallyError, toBase64url } from '@tallystick/core';
import type { LogStore } from './log-store.ts';

/** The log that the configuration describes. */
export interface ConfiguredLog extends LogKey {
  /** False where the origin was derived from the service's address: a stored log then keeps its own origin. */
  readonly originIsExplicit: boolean;
  readonly chainId: number;
}

/**
 * The log's name and key as they are stored. The first start stores them.
 * @throws log_mismatch when the data belong to a log with another origin, key or chain
 */
export async function claimLog(store: LogStore, configured: ConfiguredLog): Promise<LogKey> {
  const { origin, originIsExplicit, publicKey, chainId } = configured;
  const key = toBase64url(publicKey);
  const stored = await store.claimIdentity({ origin, chainId, publicKey: key });
  if (originIsExplicit) requireSame('origin', stored.origin, origin);
  requireSame('key', stored.publicKey, key);
  requireSame('chain id', String(stored.chainId), String(chainId));
  return { origin: stored.origin, publicKey };
}

function requireSame(what: string, stored: string, configured: string): void {
  if (stored === configured) return;
  throw new TallyError(
    'log_mismatch',
    `The database belongs to the log with the ${what} ${stored}, but ${configured} is configured. The ${what} of a log never changes: restore it, or start with another database.`,
  );
}
