import type { X509Certificate } from 'node:crypto';

/** One item of DER (X.690): the identifier octet and the contents. */
interface Item {
  readonly tag: number;
  readonly contents: Buffer;
}

const SEQUENCE = 0x30;
const OBJECT_IDENTIFIER = 0x06;
const OCTET_STRING = 0x04;
const BOOLEAN = 0x01;
const INTEGER = 0x02;
/** `[0] EXPLICIT Version` and `[3] EXPLICIT Extensions` of a certificate (RFC 5280, section 4.1). */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;

/** The items of a text of DER, one after the other. What is no DER ends the list. */
function itemsOf(bytes: Buffer): Item[] {
  const items: Item[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const more = first < 0x80 ? 0 : first - 0x80;
    const start = at + 2 + more;
    if (first === 0x80 || more > 4 || start > bytes.length) break;
    const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
    if (start + length > bytes.length) break;
    items.push({ tag, contents: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return items;
}

/** Whether bytes begin as a certificate of version 3 does, as all certificates with extensions are; a revocation list has no such version. */
export function isCertificate(bytes: Buffer): boolean {
  const [certificate] = itemsOf(bytes);
  const [toBeSigned] = itemsOf(certificate?.contents ?? Buffer.alloc(0));
  const [version] = itemsOf(toBeSigned?.contents ?? Buffer.alloc(0));
  return version?.tag === VERSION;
}

/** The value of a certificate's extension, without the OCTET STRING about it; null if the certificate has none. */
export function extensionOf({ raw }: X509Certificate, oid: string): Buffer | null {
  const [certificate] = itemsOf(raw);
  const [toBeSigned] = itemsOf(certificate?.contents ?? Buffer.alloc(0));
  const wrapped = itemsOf(toBeSigned?.contents ?? Buffer.alloc(0)).find(({ tag }) => tag === EXTENSIONS);
  const [list] = itemsOf(wrapped?.contents ?? Buffer.alloc(0));
  const wanted = encodeOid(oid);
  for (const { tag, contents } of itemsOf(list?.contents ?? Buffer.alloc(0))) {
    const parts = tag === SEQUENCE ? itemsOf(contents) : [];
    const [id] = parts;
    const value = parts.at(-1);
    if (id?.tag === OBJECT_IDENTIFIER && id.contents.equals(wanted) && value?.tag === OCTET_STRING)
      return value.contents;
  }
  return null;
}

/** The whole number that is all of a text of DER; null for anything else. */
export function integerOf(bytes: Buffer | null): number | null {
  const [item, ...more] = itemsOf(bytes ?? Buffer.alloc(0));
  if (item?.tag !== INTEGER || more.length > 0 || item.contents.length === 0 || item.contents.length > 6)
    return null;
  return item.contents.readIntBE(0, item.contents.length);
}

/** The contents of the one item that a text of DER is; null for anything else. */
export function contentsOf(bytes: Buffer | null): Buffer | null {
  const [item, ...more] = itemsOf(bytes ?? Buffer.alloc(0));
  return item === undefined || more.length > 0 ? null : item.contents;
}

/**
 * How many certificates of authorities may stand between this one and the leaf (RFC 5280, section 4.2.1.9): infinity where the
 * certificate sets no limit.
 */
export function pathLengthOf(certificate: X509Certificate): number {
  const [constraints] = itemsOf(extensionOf(certificate, '2.5.29.19') ?? Buffer.alloc(0));
  const limit = itemsOf(constraints?.contents ?? Buffer.alloc(0)).find(({ tag }) => tag !== BOOLEAN);
  if (limit?.tag !== INTEGER) return Number.POSITIVE_INFINITY;
  return limit.contents.length === 0 ? 0 : limit.contents.readIntBE(0, Math.min(limit.contents.length, 6));
}

function encodeOid(oid: string): Buffer {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const parts = [first * 40 + second, ...rest].flatMap((part) => {
    const septets = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    return septets;
  });
  return Buffer.from(parts);
}
