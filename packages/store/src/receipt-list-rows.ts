import { CALL_PURPOSE } from '@tallystick/inference/rows';
import type { ListedReceipt, ReceiptFilters } from '@tallystick/receipts';

/** Number of the receipts of one owner that were issued in one span of time and share the members up to `key`. */
export interface ReceiptCountRow {
  readonly owner: string;
  /** Length of the span in seconds. */
  readonly span: number;
  /** Unix seconds at which the span begins. */
  readonly at: number;
  readonly profile: string;
  /** Empty for any purpose but that of calls: callers choose the others, and there may be as many as receipts. */
  readonly purpose: string;
  /** Empty, as the next ones are, where the receipt has none. Of a longer text this is the beginning. */
  readonly provider: string;
  readonly status: string;
  readonly model: string;
  readonly key: string;
  readonly receipts: number;
}

/** Lengths of the spans that receipts are counted by: a minute, an hour and a day. */
const SPANS = [60, 3_600, 86_400] as const;
/** Most characters of a member of a count. */
const KEPT = 50;

/** The numbers of receipts by each span, each once. @param sign -1 for receipts that are taken away */
export function receiptCountsOf(receipts: readonly ListedReceipt[], sign: 1 | -1 = 1): ReceiptCountRow[] {
  const counts = new Map<string, ReceiptCountRow>();
  for (const receipt of receipts) {
    const members = {
      owner: receipt.owner,
      profile: kept(receipt.profile),
      purpose: receipt.purpose === CALL_PURPOSE ? CALL_PURPOSE : '',
      provider: kept(receipt.provider),
      status: kept(receipt.status),
      model: kept(receipt.model),
      key: kept(receipt.key),
    };
    for (const span of SPANS) {
      const at = Math.floor(receipt.at / 1_000 / span) * span;
      const name = JSON.stringify([span, at, members]);
      const before = counts.get(name)?.receipts ?? 0;
      counts.set(name, { ...members, span, at, receipts: before + sign });
    }
  }
  return [...counts.values()];
}

/** Whether the counts that are kept tell how many receipts match: not where a member may have been cut. */
export function isCounted(filters: ReceiptFilters): boolean {
  const { id, requestHash, session, did, tag, minCost, maxCost, purpose } = filters;
  const { profile, provider, status, model, key } = filters;
  return (
    [id, requestHash, session, did, tag, minCost, maxCost].every((value) => value === null) &&
    (purpose === null || purpose === CALL_PURPOSE) &&
    [profile, provider, status, model, key].every(
      (text) => text === null || (text !== '' && text.length < KEPT),
    )
  );
}

function kept(text: string | null): string {
  if (text === null || text.length <= KEPT) return text ?? '';
  return Array.from(text).slice(0, KEPT).join('');
}
