import { TallyError } from '../errors.ts';
import { MAX_BYTES } from './family.ts';

/** What is emitted stays under these; a pq receipt that another issuer made may be larger. */
const EMIT_BYTES = { ...MAX_BYTES, pq: 65_536 } as const;

/** Bytes of a text in UTF-8, without encoding it. Lone surrogates do not occur in JCS text. */
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

const remedy = {
  nano: 'Shorten agent_did or content_type, or choose the standard profile.',
  standard: 'Shorten the texts that you gave (DIDs, purpose, content_type), or choose the pq profile.',
  pq: 'Shorten the texts that you gave (DIDs, purpose, content_type, references).',
} as const;

/**
 * @param reserve bytes that must stay free
 * @throws receipt_too_large, naming the limit
 */
export function assertSize(
  profile: keyof typeof EMIT_BYTES,
  canonical: string,
  { reserve = 0 }: { reserve?: number } = {},
): void {
  const limit = EMIT_BYTES[profile];
  // UTF-8 takes at most three bytes for a UTF-16 unit, so that short texts need no count.
  if (canonical.length * 3 + reserve <= limit) return;
  const size = utf8Length(canonical) + reserve;
  if (size > limit) {
    throw new TallyError(
      'receipt_too_large',
      `The ${profile} receipt would take ${size} bytes; the limit is ${limit} bytes. ${remedy[profile]}`,
    );
  }
}
