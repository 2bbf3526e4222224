import { TallyError } from '../errors.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject } from '../json/types.ts';
import { CLOCK_SKEW } from '../receipts/family.ts';
import { type Infer, requireShape } from '../receipts/shape.ts';
import { compareInstants, formatTimestamp, type Instant, instantOf } from '../time.ts';
import { isCurrency } from './currencies.ts';
import { billShape, type derived } from './shape.ts';

/** The least `ts` of a receipt (specification 2.1). */
const MIN_TS = 1_000_000_000;

type BillDocument = Infer<typeof billShape>;

/** Bill as a biller sends it. Commitments are 64 hex (commitments.ts), times as specification 2.2 writes them. */
export type MeteringBill = Omit<BillDocument, keyof typeof derived | 'metered'>;

/** A bill that may be minted, its derived members not yet compared. */
export type CheckedBill = JsonObject & MeteringBill & { compiled_at: string; metered?: JsonObject };

/**
 * A copy of an untrusted bill whose form, window and time of compiling are in order. Where it does not say
 * `compiled_at`, that is now, or the end of the window where a clock that is a little behind has not seen it yet.
 * @param options.now Unix milliseconds
 * @throws invalid_field for a member of wrong form, one that is not known, or an unknown currency;
 * metering_window; metering_compiled_early
 * before the window's end; metering_compiled_late more than 300 seconds after `now`; what `copyJson` throws
 */
export function checkBill(bill: unknown, { now }: { readonly now: number }): CheckedBill {
  const checked = requireShape(billShape, copyJson(bill));
  requireCurrency(checked.rate.currency);
  const end = instantOf(checked.window_end);
  if (compareInstants(end, instantOf(checked.window_start)) <= 0) {
    throw new TallyError('metering_window', 'window_end must be later than window_start.', {
      field: 'window_end',
    });
  }
  const latest = instantOf(formatTimestamp(now + CLOCK_SKEW * 1000));
  const compiled_at = checked.compiled_at ?? defaultTime(checked.window_end, end, now, latest);
  requireTime(instantOf(compiled_at), end, latest);
  return { ...checked, compiled_at };
}

/** Refuses a currency that ISO 4217 does not list. Verification does not, so that no receipt fails for a new code. */
function requireCurrency(code: string): void {
  if (isCurrency(code)) return;
  throw new TallyError(
    'invalid_field',
    'rate.currency must be a currency code of ISO 4217, in use or withdrawn.',
    { field: 'rate.currency' },
  );
}

function defaultTime(windowEnd: string, end: Instant, now: number, latest: Instant): string {
  const present = formatTimestamp(now);
  const aLittleBehind = compareInstants(end, instantOf(present)) > 0 && compareInstants(end, latest) <= 0;
  return aLittleBehind ? windowEnd : present;
}

function requireTime(compiled: Instant, end: Instant, latest: Instant): void {
  const field = 'compiled_at';
  if (compareInstants(compiled, end) < 0) {
    throw new TallyError(
      'metering_compiled_early',
      'A bill is compiled after its window has closed: compiled_at may not be before window_end.',
      { field },
    );
  }
  if (compareInstants(compiled, latest) > 0) {
    throw new TallyError(
      'metering_compiled_late',
      `compiled_at may be at most ${CLOCK_SKEW} seconds ahead of the clock.`,
      { field },
    );
  }
  if (compiled.seconds < MIN_TS) {
    throw new TallyError('invalid_field', `${field} must not be before ${formatTimestamp(MIN_TS * 1000)}.`, {
      field,
    });
  }
}
