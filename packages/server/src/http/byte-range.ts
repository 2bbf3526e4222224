import { TallyError } from '@tallystick/core';
import type { Exchange } from './exchange.ts';

/** Bytes [from, to). */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range of bytes that a `Range` header asks for (RFC 9110, section 14.1.2); null if it asks for several, for a
 * suffix, or in a form to be ignored.
 * @throws range_invalid for a range that begins past the end, with `Content-Range`
 */
export function byteRange(
  range: string | undefined,
  size: number,
  { headers }: Pick<Exchange, 'headers'>,
): ByteRange | null {
  const match = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range?.trim() ?? '');
  if (match === null) return null;
  const from = Number(match[1]);
  const last = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (from < size && last >= from) return { from, to: last + 1 };
  if (from < size) return null;
  headers['content-range'] = `bytes */${size}`;
  throw new TallyError('range_invalid', `The file has ${size} bytes, and the range begins at ${from}.`);
}
