/** Wei for each unit of gas (EIP-1559). */
export interface GasPrice {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Most that a transaction may cost. The node estimates the gas limit too: some rollups count costs on the other layer as gas. */
export interface Fees extends GasPrice {
  readonly gasLimit: bigint;
}

export interface SignedTransaction extends Fees {
  readonly nonce: number;
  /** `0x` and 64 hex. */
  readonly txHash: string;
  /** `0x` hex. */
  readonly raw: string;
}

/** Block of a transaction, on the chain that the node now takes for the canonical one. */
export interface Inclusion {
  readonly txHash: string;
  readonly blockHeight: number;
  readonly blockHash: string;
  /** Unix seconds, the block's own. */
  readonly blockTime: number;
  readonly succeeded: boolean;
}

/** Result of sending a transaction. */
export type Broadcast =
  | { readonly kind: 'accepted' }
  /** The node had it already. */
  | { readonly kind: 'known' }
  /** Its nonce is used, by this transaction or by another one. */
  | { readonly kind: 'nonce_used' }
  /** It pays too little: for this node and block, or to replace another one with the same nonce. */
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'insufficient_funds' }
  | { readonly kind: 'refused'; readonly reason: string };

/** A transaction as any verifier reads it. */
export interface ChainTransaction {
  readonly from: string;
  /** `0x` hex. */
  readonly data: string;
  readonly inclusion: Inclusion;
}

/** An account as it is after the newest block. */
export interface AccountState {
  /** Number of the account's transactions in the chain, which is its next nonce. Pending ones do not count. */
  readonly nonce: number;
  readonly blockHeight: number;
  readonly blockHash: string;
}

/**
 * Reads an EVM chain, without a key.
 *
 * Errors: every method that asks the node rejects with `chain_unavailable` when it can't be reached, times out or
 * does not give a valid answer. No message or cause holds the RPC URL, which may be secret. Nothing is tried again here.
 */
export interface ChainReader {
  readonly chainId: number;
  /** @throws chain_mismatch when the node is of another chain */
  check(): Promise<void>;
  /** Null while it is in no block of the canonical chain. */
  inclusion(txHash: string): Promise<Inclusion | null>;
  /** The height at and below which blocks are final by the configured rule; -1 when there is none. */
  finalHeight(): Promise<number>;
  /** The hash of the canonical block at a height; null where there is none yet. */
  blockHash(height: number): Promise<string | null>;
  /**
   * Null when the chain has no such EIP-1559 transaction in a block. Sender and data follow from the hash, so the node
   * is not trusted for these.
   */
  transaction(txHash: string): Promise<ChainTransaction | null>;
}

/**
 * An account on an EVM chain that posts data, and the chain's answers about it. Keeps no state: the caller stores every
 * signed transaction before it is sent. A broadcast that rejects may have been accepted.
 */
export interface Chain extends ChainReader {
  /** The `<network>` of an anchor reference. */
  readonly network: string;
  /** Address of the posting account: EIP-55 checksummed. */
  readonly address: string;
  /** The posting account's next nonce, pending transactions not counted. */
  nextNonce(): Promise<number>;
  /** State of any account, by its address. */
  account(address: string): Promise<AccountState>;
  /** Balance of the posting account, in wei. */
  balance(): Promise<bigint>;
  /**
   * Fees for posting the data now; with `above`, at least an eighth (the least that every node takes for a
   * replacement) more than that.
   */
  fees(data: Uint8Array, above?: GasPrice): Promise<Fees>;
  /** Signs a transaction from the account to itself that carries the data. Needs no node. The same arguments give the same. */
  sign(data: Uint8Array, nonce: number, fees: Fees): Promise<SignedTransaction>;
  /** The account that signed a raw transaction: EIP-55 checksummed. Needs no node. */
  senderOf(raw: string): Promise<string>;
  broadcast(raw: string): Promise<Broadcast>;
}
