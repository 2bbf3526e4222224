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
}

/** A posting in `GET /v1/log/postings`. */
export interface LogPosting {
  readonly sequence: number;
  readonly tree_size: number;
  readonly merkle_root: string;
  readonly state: 'queued' | 'broadcast' | 'confirmed' | 'finalized';
  readonly tx_hash: string | null;
  readonly block_height: number | null;
  readonly block_time: string | null;
}
