import { type ApiKey, acceptHashes, type Counting, countReceipt } from '@tallystick/callers';
import { copyJson, type JsonObject, parseJson, TallyError, termsOf, utf8 } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import { tenantAccount } from '@tallystick/ledger';
import type { AnchorLog, AnchorResult } from '@tallystick/log';
import { hashOf } from './hash-of.ts';
import type { Terms } from './issue.ts';
import { withMembers } from './with-members.ts';

type Placing = Pick<Counting, 'log' | 'clock'>;
type Context = Counting & { readonly log: Pick<AnchorLog, 'accept' | 'find' | 'resolve'> };

/** What a key, or a tenant, does for the receipts that are issued under it. */
type Keyed = Pick<Terms, 'complete' | 'anchorRef'>;

interface KeyedIssue {
  readonly key: ApiKey;
  /** Whether the caller asked for an anchor. */
  readonly anchor: boolean;
}

/**
 * Counts each signed receipt in the key's month, or places its hash in the log, which counts it; writes both on it.
 * Throws quota_exceeded, anchor_unavailable, unavailable.
 */
export function ofKey(context: Context, received: Received, { key, anchor }: KeyedIssue): Keyed {
  const anchors = isAnchored(key, anchor);
  const place = (receipt: string): Promise<string> => placeReceipt(context, received, key, receipt);
  let placed: string | null = null;
  return {
    async complete(signed, profile) {
      if (anchors) placed = await place(signed);
      else await countReceipt(context, key, received);
      return termsOf(profile).bare
        ? signed
        : withMembers(signed, { tier: key.tier, ...(placed === null ? {} : { anchor_ref: placed }) });
    },
    async anchorRef({ receipt, replayed }) {
      if (!anchors) return null;
      if (!replayed && placed !== null) return placed;
      return (await anchorOf(context.log, receipt))?.anchor_ref ?? place(receipt);
    },
  };
}

/** Anchors each signed receipt of a tenant, which counts nowhere. */
export function ofTenant({ log }: Pick<Context, 'log'>, tenant: string): Keyed {
  const place = async (receipt: string): Promise<string> => {
    const outcome = await log.accept([hashOf(receipt)], null, { owner: tenantAccount(tenant) });
    const [result] = outcome.kind === 'accepted' ? outcome.results : [];
    if (result === undefined) throw new Error('The log returned no result for a hash.');
    return result.anchor_ref;
  };
  return {
    async complete(signed, profile) {
      const placed = await place(signed);
      return termsOf(profile).bare ? signed : withMembers(signed, { anchor_ref: placed });
    },
    anchorRef: async ({ receipt }) => (await anchorOf(log, receipt))?.anchor_ref ?? place(receipt),
  };
}

/** Whether a receipt is anchored: of Pro where the caller asks for it, of the other tiers always (specification 2.10). */
export function isAnchored({ tier }: ApiKey, requested: boolean): boolean {
  return requested || tier !== 'pro';
}

/**
 * Places the hash of a signed receipt (JCS text) in the log, which counts it. Resolves to its anchor reference.
 * @throws quota_exceeded, anchor_unavailable, unavailable
 */
export async function placeReceipt(
  context: Placing,
  received: Received,
  key: ApiKey,
  receipt: string,
): Promise<string> {
  const [result] = await acceptHashes(context, key, received, [hashOf(receipt)]);
  if (result === undefined) throw new Error('The log returned no result for a hash.');
  return result.anchor_ref;
}

/** Where a receipt's hash is in the log, or null where it is not. */
export async function anchorOf(
  log: Pick<AnchorLog, 'find' | 'resolve'>,
  receipt: string,
): Promise<AnchorResult | null> {
  try {
    return await log.resolve(await log.find(hashOf(receipt)));
  } catch (error) {
    if (error instanceof TallyError && error.code === 'anchor_not_found') return null;
    throw error;
  }
}

/** A receipt's JCS text with the anchored result on it, where it carries a reference and the result is of that kind. */
export function withAnchor(receipt: string, result: AnchorResult): string {
  const carries = Object.hasOwn(parseJson(utf8(receipt)) as JsonObject, 'anchor_ref');
  if (!carries || !('merkle_root' in result)) return receipt;
  return withMembers(receipt, { anchor_ref: result.anchor_ref, anchor: copyJson(result) });
}
