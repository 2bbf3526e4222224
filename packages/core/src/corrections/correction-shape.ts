import {
  constant,
  type Infer,
  nonEmptyText,
  nullable,
  object,
  pattern,
  sha256Text,
} from '../receipts/shape.ts';

/** A receipt by its id and its anchored hash. */
const named = object({
  receipt_id: pattern(
    /^r_(?:env|sls\.metering)_[0-9]{10,}_[0-9a-f]{12}$/,
    'the id of an envelope or a metering receipt',
  ),
  receipt_sha256: sha256Text,
});

export const correctionShape = object({
  kind: constant('correction'),
  /** The receipt that is superseded. */
  corrects: named,
  /** The receipt that supersedes it. */
  correction: named,
  /** Why, in words; null if nobody says. */
  reason: nullable(nonEmptyText),
});

/** The member `call` of an envelope that says that one receipt corrects another (spec/corrections.md). */
export type Correction = Infer<typeof correctionShape>;
export type NamedReceipt = Correction['corrects'];
