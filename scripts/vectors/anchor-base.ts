import {
  type AnchorAuthority,
  anchoredHash,
  anchoredRef,
  encodePosting,
  fromHex,
  inclusionProof,
  type JsonObject,
  type JsonValue,
  leafHash,
  merkleRoot,
  type Signer,
  sha256,
  sha256Hex,
  signCheckpoint,
  toBase64url,
  toHex,
  utf8,
} from '../../packages/core/src/index.ts';
import type { ReceiptCase } from './cases.ts';
import { signers } from './keys.ts';

export const ORIGIN = 'receipts.example/log';
const CHAIN_ID = 8453;
const NETWORK = 'base';
const BLOCK_HEIGHT = 25_000_000;
/** An address of EIP-55's own examples, with its checksum. */
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** A transaction as a node returns it: `from` and `data` as `0x` hex, `block_time` in Unix seconds. */
export interface TransactionFacts {
  readonly chain_id: number;
  readonly tx_hash: string;
  readonly block_height: number;
  readonly block_time: number;
  readonly from: string;
  readonly data: string;
}

/** A receipt to verify, with what is known of its anchor. */
export interface AnchorCase extends ReceiptCase {
  /** The anchored result that is given beside the receipt. */
  readonly anchor?: JsonValue;
  /** Absent if the chain was not asked, null if it has no such transaction. */
  readonly transaction?: TransactionFacts | null;
  /** The log and the chain of the verifier's trust bundle; both are null when absent. */
  readonly authority?: AnchorAuthority;
}

/** The transaction of a payment as a node returns it. Addresses are `0x` and 40 hex, `amount` is in base units of the token. */
export interface SettlementFacts {
  readonly chain_id: number;
  readonly tx_hash: string;
  readonly block_height: number;
  readonly transfers: readonly {
    readonly token: string;
    readonly from: string;
    readonly to: string;
    readonly amount: string;
  }[];
}

/** A receipt to verify, with what is known of its payment; `authority` has the payees. */
export interface SettlementCase extends AnchorCase {
  /** Absent if the chain was not asked, null if it has no such transaction. */
  readonly settlement?: SettlementFacts | null;
}

/** The log and the posting account that the vectors' verifier knows. */
export const authority: AnchorAuthority = {
  log: { origin: ORIGIN, key_id: signers.log.keyId, public_key: toBase64url(signers.log.publicKey) },
  chain: { network: NETWORK, chain_id: CHAIN_ID, address: ADDRESS },
};

export interface Anchoring {
  readonly index?: number;
  readonly size?: number;
  /** Time of the block. */
  readonly at?: string;
  readonly origin?: string;
  readonly log?: Signer;
}

/** A receipt's anchored result and its transaction. */
export interface Anchored {
  readonly anchor: JsonObject;
  readonly transaction: TransactionFacts;
}

/** Puts a receipt into a log of made-up leaves, signs the log's checkpoint, and posts the root. */
export async function anchorOf(
  document: JsonObject,
  { index = 3, size = 7, at = '2026-01-15T11:30:00Z', origin = ORIGIN, log = signers.log }: Anchoring = {},
): Promise<Anchored> {
  const leaves = Array.from({ length: size }, (_, i) => leafHash(sha256(utf8(`leaf ${i}`))));
  leaves[index] = leafHash(fromHex(anchoredHash(document), 32));
  const root = merkleRoot(leaves);
  const head = { origin, size, root };
  return anchored(index, inclusionProof(leaves, index), head, await signCheckpoint(head, log), at);
}

export function anchored(
  index: number,
  path: readonly Uint8Array[],
  head: { readonly origin: string; readonly size: number; readonly root: Uint8Array },
  checkpoint: string,
  at: string,
): Anchored {
  const data = encodePosting(head);
  const place = { network: NETWORK, blockHeight: BLOCK_HEIGHT, txHash: `0x${sha256Hex(data)}`, index };
  return {
    anchor: {
      anchor_ref: anchoredRef(place),
      network: NETWORK,
      block_height: BLOCK_HEIGHT,
      tx_hash: place.txHash,
      merkle_root: `sha256:${toHex(head.root)}`,
      merkle_path: path.map((hash) => `sha256:${toHex(hash)}`),
      verified_at: '2026-01-15T11:59:59Z',
      leaf_index: index,
      tree_size: head.size,
      checkpoint,
    },
    transaction: {
      chain_id: CHAIN_ID,
      tx_hash: place.txHash,
      block_height: BLOCK_HEIGHT,
      block_time: Date.parse(at) / 1000,
      from: ADDRESS.toLowerCase(),
      data: `0x${toHex(data)}`,
    },
  };
}

/** Only the members that the specification (2.9) names. */
export function specifiedOnly(anchor: JsonObject): JsonObject {
  const { leaf_index: _index, tree_size: _size, checkpoint: _checkpoint, ...specified } = anchor;
  return specified;
}
