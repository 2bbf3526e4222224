/** Functions about money on a chain, loaded at the first call, as `chain/lazy.ts` explains. */
import type { DevToken } from './dev-token.ts';

/** @throws chain_mismatch when it is anything but a development chain with test money; chain_unavailable */
export async function openDevToken(rpcUrl: string): Promise<DevToken> {
  return (await import('./dev-token.ts')).openDevToken(rpcUrl);
}
