import type { TokenTable } from './vocabulary.ts';

const SPACE = 0x20;
const LINE_FEED = 0x0a;
const ZERO = 0x30;
const PADDING = 0x3d;

/** The alphabet of base64 (RFC 4648, section 4). */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The six bits of each of its characters. */
const SIX_BITS = new Uint8Array(128);
for (let bits = 0; bits < ALPHABET.length; bits++) SIX_BITS[ALPHABET.charCodeAt(bits)] = bits;

/**
 * Reads a vocabulary as tiktoken publishes it: each line has a token in base64, a space and its rank, and the ranks ascend from 0 without
 * a gap.
 * @throws RangeError where they don't
 */
export function parseTiktoken(file: Uint8Array): TokenTable {
  const { tokens, length } = sizesOf(file);
  const bytes = new Uint8Array(length);
  const starts = new Uint32Array(tokens + 1);
  let end = 0;
  let at = 0;
  for (let token = 0; token < tokens; token++) {
    let bits = 0;
    let held = 0;
    for (; at < file.length && file[at] !== SPACE; at++) {
      const character = file[at] ?? PADDING;
      if (character === PADDING) continue;
      bits = (bits << 6) | (SIX_BITS[character] ?? 0);
      held += 6;
      if (held < 8) continue;
      held -= 8;
      bytes[end++] = bits >> held;
    }
    let rank = 0;
    for (at++; at < file.length && file[at] !== LINE_FEED; at++) rank = rank * 10 + (file[at] ?? 0) - ZERO;
    if (rank !== token) throw new RangeError(`Line ${token + 1} has the rank ${rank}.`);
    at++;
    starts[token + 1] = end;
  }
  return { bytes, starts };
}

/** The number of tokens, and of their bytes: arrays that are made too large leave holes in memory when they are cut. */
function sizesOf(file: Uint8Array): { readonly tokens: number; readonly length: number } {
  let tokens = 0;
  let length = 0;
  let characters = 0;
  for (let at = 0; at < file.length; at++) {
    const byte = file[at] ?? LINE_FEED;
    if (byte === SPACE) {
      tokens += 1;
      length += (characters * 3) >> 2;
    } else if (byte === LINE_FEED) characters = 0;
    else if (byte !== PADDING) characters += 1;
  }
  return { tokens, length };
}
