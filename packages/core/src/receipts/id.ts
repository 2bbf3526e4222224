import { TallyError } from '../errors.ts';
import { FORMS, type Profile } from './profiles/registry.ts';

/** The kinds that receipt ids are made for: `env` is the envelope. */
export type ReceiptIdKind = 'env' | Profile | 'issue';

/**
 * Makes a receipt id: `r_<kind>_<unix seconds>_<12 hex>`, unique by the randomness.
 * @param random 12 random lower-case hex characters
 */
export function receiptId(kind: ReceiptIdKind, unixSeconds: number, random: string): string {
  if (!/^[0-9a-f]{12}$/.test(random))
    throw new TallyError('invalid_field', 'A receipt id takes 12 random hex characters.');
  return `r_${kind}_${unixSeconds}_${random}`;
}

/** The grammar of every receipt id that the service hands out. */
export const receiptIdPattern = new RegExp(
  `^r_(?:env|${FORMS.map(({ name }) => name).join('|')}|issue|sls\\.metering)_[0-9]{10,}_[0-9a-f]{12}$`,
);
