/**
 * What speaks to chains, loaded by the first who asks for it: viem is a third of what the server's package takes to
 * import, and most who import it never see a chain.
 */
import type { ChainReader } from './chain.ts';
import type { ReaderOptions } from './reader.ts';
import type { RawTransaction } from './transaction.ts';

/** Reads an EVM chain over HTTP; needs no key. */
export async function openChainReader(options: ReaderOptions): Promise<ChainReader> {
  return (await import('./reader.ts')).openChainReader(options);
}

/** The reader of signed raw transactions: see `decodeRaw`. */
export async function rawDecoder(): Promise<(raw: string) => RawTransaction | null> {
  return (await import('./transaction.ts')).decodeRaw;
}
