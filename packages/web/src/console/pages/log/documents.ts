import { counted } from '../../format/number.ts';

/** The members of `GET /v1/log` that this page shows. */
export interface LogStatus {
  readonly origin: string;
  readonly verifier_key: string;
  readonly accepted: number;
  readonly tree_size: number;
  readonly anchored_size: number;
  readonly accepting: string;
  readonly posting: string;
  readonly overdue_seconds: number;
  readonly period_seconds: number;
  readonly next_posting_at: string;
  readonly chain: { readonly network: string; readonly chain_id: number; readonly address: string } | null;
  /** C2SP verifier keys. */
  readonly witnesses: readonly string[];
}

/** A row of `GET /v1/log/postings`. */
export interface Posting {
  readonly sequence: number;
  readonly tree_size: number;
  readonly merkle_root: string;
  readonly state: 'queued' | 'broadcast' | 'confirmed' | 'finalized';
  readonly scheduled_at: string;
  readonly tx_hash: string | null;
  readonly block_height: number | null;
  readonly block_time: string | null;
}

/** A row of `GET /v1/log/leaves`. */
export interface Leaf {
  readonly leaf_index: number;
  readonly canonical_sha256: string;
  readonly batch_id: string;
  readonly anchor_ref: string;
  readonly posting: Posting | null;
}

/** States of a posting in words. */
export const STATES: Readonly<Record<Posting['state'], string>> = {
  queued: 'Queued',
  broadcast: 'Sent',
  confirmed: 'In a block',
  finalized: 'Final',
};

/** A number of leaves in words: `1 leaf`, `1,204 leaves`. */
export const leaves = (number: number): string => counted(number, 'leaf', 'leaves');
