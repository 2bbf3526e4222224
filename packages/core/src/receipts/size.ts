import { TallyError } from '../errors.ts';
import type { ReceiptProfile } from './profiles/profile.ts';

/** Number of bytes of a text in UTF-8, counted without encoding it. Lone surrogates do not occur in JCS text. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes: each half counts two.
    length += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return length;
}

/** @param reserve bytes that must stay free @throws receipt_too_large, naming the limit */
export function assertSize(
  { name, maxEmitted, remedy }: Pick<ReceiptProfile, 'name' | 'maxEmitted' | 'remedy'>,
  canonical: string,
  { reserve = 0 }: { reserve?: number } = {},
): void {
  // UTF-8 takes at most three bytes for each UTF-16 unit, so short texts need no count.
  if (canonical.length * 3 + reserve <= maxEmitted) return;
  const size = utf8Length(canonical) + reserve;
  if (size > maxEmitted) {
    throw new TallyError(
      'receipt_too_large',
      `The ${name} receipt would take ${size} bytes; the limit is ${maxEmitted} bytes. ${remedy}`,
    );
  }
}
