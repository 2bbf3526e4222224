export * as answers from './answers.ts';
export { INSTALL_ANVIL, isAnvilInstalled } from './anvil.ts';
export type {
  AccountState,
  Broadcast,
  Chain,
  ChainReader,
  Fees,
  GasPrice,
  Inclusion,
  SignedTransaction,
} from './chain.ts';
export { openChainReader, rawDecoder } from './lazy.ts';
export { createPostingKey, readChainKey, readPostingKey } from './posting-key.ts';
export type { ChainSettings } from './settings.ts';
export { openDevToken } from './token/lazy.ts';
