import { toHex } from '@tallystick/core';
import type { StreamStore } from './stream-store.ts';

const ROUNDS = 200;
const HASH = 32;

/** The anchored hashes of a stream in hex, from the place `first` to the place `last`, counted from 1. */
export async function* readHashes(
  streams: Pick<StreamStore, 'rounds'>,
  stream: string,
  { first, last }: { readonly first: number; readonly last: number },
): AsyncGenerator<string, void, undefined> {
  for (let place = first; place <= last; ) {
    const rounds = await streams.rounds(stream, place, ROUNDS);
    if (rounds.length === 0) throw new Error(`The stream ${stream} has no receipt ${place}.`);
    for (const { first: from, hashes } of rounds) {
      const end = from + hashes.length / HASH;
      for (; place < end && place <= last; place++) {
        yield toHex(hashes.subarray((place - from) * HASH, (place - from + 1) * HASH));
      }
    }
  }
}
