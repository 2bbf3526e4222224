import cl100kRanks from 'gpt-tokenizer/bpeRanks/cl100k_base';
import o200kRanks from 'gpt-tokenizer/bpeRanks/o200k_base';
import type { EncodingName } from './encoding.ts';
import type { TokenTable } from './vocabulary.ts';

/** By rank, a text, or the bytes if they are not text. */
type RawRanks = readonly (string | readonly number[])[];

const RANKS: Readonly<Record<EncodingName, RawRanks>> = { o200k_base: o200kRanks, cl100k_base: cl100kRanks };

/** The tokens of an encoding, from a module: a browser has no files, and Deno reads none without a permission. */
export function tokenTable(name: EncodingName): TokenTable {
  const raw = RANKS[name];
  const encoder = new TextEncoder();
  const starts = new Uint32Array(raw.length + 1);
  let bytes = new Uint8Array(raw.length * 8);
  let end = 0;
  for (let rank = 0; rank < raw.length; rank++) {
    starts[rank] = end;
    const token = raw[rank] ?? '';
    if (end + token.length * 3 > bytes.length) bytes = grown(bytes);
    if (typeof token === 'string') end += encoder.encodeInto(token, bytes.subarray(end)).written;
    else {
      bytes.set(token, end);
      end += token.length;
    }
  }
  starts[raw.length] = end;
  return { bytes: bytes.slice(0, end), starts };
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}
