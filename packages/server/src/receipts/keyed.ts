import {
  anchoredHash,
  canonicalize,
  copyJson,
  fromHex,
  type JsonObject,
  parseJson,
  TallyError,
  termsOf,
  utf8,
} from '@tallystick/core';
import type { ApiKey } from '../api-keys/authenticate.ts';
import { acceptHashes, type Counting, countReceipt } from '../api-keys/quota.ts';
import type { Exchange } from '../http/exchange.ts';
import type { AnchorLog, AnchorResult } from '../log/anchor-log.ts';
import type { ReceiptRow } from '../store/store.ts';
import { memberTexts } from './member-texts.ts';
import type { Minted } from './mint.ts';

type Placing = Pick<Counting, 'log' | 'clock'>;
type Context = Counting & { readonly log: Pick<AnchorLog, 'accept' | 'find' | 'resolve'> };

interface KeyedMint {
  readonly key: ApiKey;
  readonly profile: ReceiptRow['profile'];
  /** Whether the caller asked for an anchor. */
  readonly anchor: boolean;
}

/** What a key does for the receipt that is minted under it. */
export interface Keyed {
  /**
   * Counts the signed receipt (JCS text), or places its hash in the log, which counts it; writes both on it.
   * @throws quota_exceeded, anchor_unavailable, unavailable
   */
  readonly finish: (signed: string) => Promise<string>;
  /** The receipt's anchor reference, null where it is not anchored. Throws as `finish`. */
  readonly reference: (minted: Minted) => Promise<string | null>;
}

export function keyedMint(
  context: Context,
  exchange: Pick<Exchange, 'headers'>,
  { key, profile, anchor }: KeyedMint,
): Keyed {
  const anchors = isAnchored(key, anchor);
  const place = (receipt: string): Promise<string> => placeReceipt(context, exchange, key, receipt);
  let placed: string | null = null;
  return {
    async finish(signed) {
      if (anchors) placed = await place(signed);
      else await countReceipt(context, key, exchange);
      return termsOf(profile).bare
        ? signed
        : withMembers(signed, { tier: key.tier, ...(placed === null ? {} : { anchor_ref: placed }) });
    },
    async reference({ receipt, replayed }) {
      if (!anchors) return null;
      if (!replayed && placed !== null) return placed;
      return (await anchorOf(context.log, receipt))?.anchor_ref ?? place(receipt);
    },
  };
}

/** What a tenant's key does for the receipt that is minted under it: it is anchored, and counts nowhere. */
export function tenantMint({ log }: Pick<Context, 'log'>, profile: ReceiptRow['profile']): Keyed {
  const place = async (receipt: string): Promise<string> => {
    const outcome = await log.accept([hashOf(receipt)], null);
    const [result] = outcome.kind === 'accepted' ? outcome.results : [];
    if (result === undefined) throw new Error('The log gave no result for a hash.');
    return result.anchor_ref;
  };
  return {
    async finish(signed) {
      const placed = await place(signed);
      return termsOf(profile).bare ? signed : withMembers(signed, { anchor_ref: placed });
    },
    reference: async ({ receipt }) => (await anchorOf(log, receipt))?.anchor_ref ?? place(receipt),
  };
}

/** Whether a receipt is anchored: of Pro where the caller asks for it, of the other tiers always (specification 2.10). */
export function isAnchored({ tier }: ApiKey, asked: boolean): boolean {
  return asked || tier !== 'pro';
}

/**
 * Places the hash of a signed receipt (JCS text) in the log, which counts it. Resolves to its anchor reference.
 * @throws quota_exceeded, anchor_unavailable, unavailable
 */
export async function placeReceipt(
  context: Placing,
  exchange: Pick<Exchange, 'headers'>,
  key: ApiKey,
  receipt: string,
): Promise<string> {
  const [result] = await acceptHashes(context, key, exchange, [hashOf(receipt)]);
  if (result === undefined) throw new Error('The log gave no result for a hash.');
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

/** A receipt's JCS text with unsigned members set (spec/receipts.md). */
export function withMembers(receipt: string, members: JsonObject): string {
  const texts = memberTexts(receipt);
  for (const [name, value] of Object.entries(members)) texts.set(name, canonicalize(value));
  const sorted = [...texts].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

function hashOf(receipt: string): Uint8Array {
  return fromHex(anchoredHash(parseJson(utf8(receipt))), 32);
}
