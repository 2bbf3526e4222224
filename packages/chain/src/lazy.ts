/**
 * Functions that talk to chains, loaded at the first call: viem is a third of what the server's package takes to
 * import, and most processes that import it never use a chain.
 */
import type { ChainReader } from './chain.ts';
import type { ReaderOptions } from './reader.ts';
import type { RawTransaction } from './transaction.ts';

/** Reads an EVM chain over HTTP; needs no key. */
export async function openChainReader(options: ReaderOptions): Promise<ChainReader> {
  return (await import('./reader.ts')).openChainReader(options);
}

/** Returns the function that reads signed raw transactions: see `decodeRaw`. */
export async function rawDecoder(): Promise<(raw: string) => RawTransaction | null> {
  return (await import('./transaction.ts')).decodeRaw;
}
