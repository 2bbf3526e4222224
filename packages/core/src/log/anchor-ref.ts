import { TallyError } from '../errors.ts';
import { isTreeSize } from '../merkle/subtree.ts';
import { formatTimestamp, parseTimestamp } from '../time.ts';

/** Parts of `urn:anchor:...`: where a leaf is to be posted, or where it was posted. `index` is its index in the log. */
export type AnchorRef =
  | { readonly kind: 'pending'; readonly batchId: string; readonly index: number }
  | ({ readonly kind: 'anchored' } & AnchorPlace);

export interface AnchorPlace {
  /** The chain's name: `a-z`, `0-9` and `-`, at most 32; not `pending`. */
  readonly network: string;
  readonly blockHeight: number;
  /** `0x` and 64 lower-case hex characters. */
  readonly txHash: string;
  readonly index: number;
}

/** The scheduled posting time, to the minute: `YYYY-MM-DDThh:mmZ`. Its colon is part of it. */
export function batchId(unixSeconds: number): string {
  return `${formatTimestamp(unixSeconds * 1000).slice(0, 16)}Z`;
}

/** A leaf index in lower-case base 36. */
export function shortId(index: number): string {
  return index.toString(36);
}

/** @throws anchor_ref_invalid for every text that `shortId` would not write for an index in [0, 2^53) */
export function parseShortId(text: string): number {
  const index = Number.parseInt(text, 36);
  if (!isTreeSize(index) || shortId(index) !== text) {
    throw new TallyError('anchor_ref_invalid', 'A short id is a leaf index in lower-case base 36.');
  }
  return index;
}

/** @param batchAt Unix seconds */
export function pendingRef(batchAt: number, index: number): string {
  return `urn:anchor:pending:${batchId(batchAt)}:${shortId(index)}`;
}

export function anchoredRef({ network, blockHeight, txHash, index }: AnchorPlace): string {
  return `urn:anchor:${network}:${blockHeight}:${txHash}:${shortId(index)}`;
}

const pendingSyntax = /^urn:anchor:pending:(\d{4}-\d\d-\d\dT\d\d:\d\d)Z:([^:]+)$/;
const anchoredSyntax =
  /^urn:anchor:(?!pending:)([a-z0-9][a-z0-9-]{0,31}):(0|[1-9]\d{0,15}):(0x[0-9a-f]{64}):([^:]+)$/;

/** @throws anchor_ref_invalid for every text that `pendingRef` and `anchoredRef` would not write */
export function parseAnchorRef(text: string): AnchorRef {
  const [, minute = '', pendingId = ''] = pendingSyntax.exec(text) ?? [];
  if (parseTimestamp(`${minute}:00Z`) !== null) {
    return { kind: 'pending', batchId: `${minute}Z`, index: parseShortId(pendingId) };
  }
  const [, network = '', height, txHash = '', id = ''] = anchoredSyntax.exec(text) ?? [];
  const blockHeight = Number(height);
  if (!Number.isSafeInteger(blockHeight)) {
    throw new TallyError(
      'anchor_ref_invalid',
      'Expected urn:anchor:pending:<batch_id>:<short_id> or urn:anchor:<network>:<block_height>:<tx_hash>:<short_id>.',
    );
  }
  return { kind: 'anchored', network, blockHeight, txHash, index: parseShortId(id) };
}
