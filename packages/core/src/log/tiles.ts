import { concatBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';

/** Hashes in a full tile (C2SP tlog-tiles). */
export const TILE_WIDTH = 256;

/** Tile that a path names. `width` is 256 for a full tile, 1 to 255 for a partial one. */
export type TilePath =
  | { readonly kind: 'hashes'; readonly level: number; readonly index: number; readonly width: number }
  | { readonly kind: 'entries'; readonly index: number; readonly width: number };

/** The path of a hash tile: `tile/0/x001/234`, and `tile/0/x001/234.p/5` for a partial one. */
export function tilePath(level: number, index: number, width: number = TILE_WIDTH): string {
  return `tile/${level}/${place(index, width)}`;
}

/** The path of an entry bundle: `tile/entries/x001/234`, and `tile/entries/x001/234.p/5` for a partial one. */
export function entriesPath(index: number, width: number = TILE_WIDTH): string {
  return `tile/entries/${place(index, width)}`;
}

function place(index: number, width: number): string {
  let path = group(index);
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    path = `x${group(rest)}/${path}`;
  }
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

const group = (index: number): string => String(index % 1000).padStart(3, '0');

const syntax = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/;

/** Parses a tile path; null for every path that `tilePath` and `entriesPath` would not write. */
export function parseTilePath(path: string): TilePath | null {
  const [, of, digits, partial] = syntax.exec(path) ?? [];
  if (of === undefined || digits === undefined) return null;
  const level = Number(of);
  const index = Number(digits.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  if (level > 63 || !Number.isSafeInteger(index) || width < 1 || width > TILE_WIDTH) return null;
  if (of === 'entries') return entriesPath(index, width) === path ? { kind: 'entries', index, width } : null;
  return tilePath(level, index, width) === path ? { kind: 'hashes', level, index, width } : null;
}

/**
 * An entry bundle of 32-byte entries: each is preceded by its length, 0x00 0x20.
 * @param hashes n * 32 bytes: the entries in one piece
 * @throws invalid_field for another length
 */
export function encodeEntries(hashes: Uint8Array): Uint8Array {
  if (hashes.length % 32 !== 0) throw new TallyError('invalid_field', 'Entries are 32 bytes each.');
  const length = Uint8Array.of(0x00, 0x20);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < hashes.length; at += 32) parts.push(length, hashes.subarray(at, at + 32));
  return concatBytes(...parts);
}
