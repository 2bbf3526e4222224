import type { Finality } from './reader.ts';

/** Settings of the chain that roots are posted to and payments are made on. */
export interface ChainSettings {
  readonly id: number;
  /** The `<network>` of an anchor reference; it holds no colon. */
  readonly network: string;
  readonly rpcUrl: string | null;
  /** Whether a development chain is started. Without it and an RPC URL there is no chain. */
  readonly devnet: boolean;
  /** Absolute path of the secp256k1 key of the account that posts roots. */
  readonly postingKeyFile: string;
  readonly finality: Finality;
}
