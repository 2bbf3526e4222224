import type { ApiKeyRow, ExportRow, PurgeRow, TenantRow } from '@tallystick/callers';
import type { VerifierKey } from '@tallystick/core';
import type { IssuerRow } from '@tallystick/issuers';
import type { ReceiptRow } from '@tallystick/kit';
import type { Claim } from '@tallystick/ledger';
import type { Leaf, PostingAttempt, StoredCheckpoint, Tile } from '@tallystick/log';
import type {
  ChannelRow,
  EndedTransfer,
  OrderRow,
  PaymentRow,
  PayoutAttempt,
  PayoutRow,
} from '@tallystick/payments';
import type { Generated } from 'kysely';

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

type Value<Of> = Of extends string ? string : Of;

/** The columns that hold the rows of a contract: its properties in snake case, or as `Names` has them. */
type Columns<Row, Names = unknown> = {
  [P in keyof Row & string as P extends keyof Names ? Names[P] & string : Snake<P>]-?: Value<Row[P]>;
};

/** The tables, as `migrations/` leaves them. Times are unix seconds. */
export interface Schema {
  receipts: Omit<Columns<ReceiptRow>, 'body'> & {
    /** Null once purged. */
    body: string | null;
  };
  idempotency: {
    scope: string;
    request_hash: string;
    /** The receipt whose body is the response, so that a body is written once. */
    receipt_id: string | null;
    /** The response where it is no receipt. */
    response: string | null;
    expires_at: number;
  };
  counters: { counter: string; used: number; expires_at: number };
  issuers: Columns<IssuerRow>;
  documents: { name: string; version: number; body: string };
  api_keys: Columns<ApiKeyRow>;
  leaves: Columns<Leaf, { index: 'idx' }>;
  /** One row, which every writer of the log locks. */
  log_state: {
    id: number;
    /** The index of the next leaf: as many are accepted. */
    next_index: number;
    /** The least `batch_at` of the next leaf. */
    batch_floor: number;
    head_size: number;
    /** Null while the tree is empty. */
    head_root: Uint8Array | null;
    lease_epoch: number;
    lease_holder: string | null;
    /** Unix seconds with fractions, by the database's clock. */
    lease_expires_at: number;
    /** Null, with the next two, until the log is claimed. */
    origin: string | null;
    chain_id: number | null;
    public_key: string | null;
  };
  tiles: Columns<Tile, { index: 'idx' }>;
  checkpoints: Columns<StoredCheckpoint>;
  /** Every witness that was ever configured; rows are never removed. */
  log_witnesses: Columns<VerifierKey>;
  postings: {
    sequence: number;
    batch_at: number;
    size: number;
    root: Uint8Array;
    state: string;
    nonce: number;
    /** Null, with the next three, while it is in no block. */
    tx_hash: string | null;
    block_height: number | null;
    block_hash: string | null;
    block_time: number | null;
    finalized_at: number | null;
  };
  posting_attempts: Columns<PostingAttempt> & {
    /** From 1, in the order of their making. */
    attempt: number;
  };
  /** Money is in nano-USDC, dust in millionths of that; both are read as text, since they can pass 2^53. */
  accounts: {
    account: string;
    balance: Generated<bigint>;
    reserved: Generated<bigint>;
    dust: Generated<bigint>;
    lines: Generated<number>;
  };
  reservations: {
    id: string;
    account: string;
    amount: bigint;
    dust: bigint;
    expires_at: number;
    /** The process whose end also ends the reservation; null where only its time does. */
    process: string | null;
  };
  /** The serving processes. */
  processes: {
    /** Random, chosen anew by each process that starts. */
    id: string;
    /** Unix seconds with fractions, by the database's clock. */
    lease_until: number;
  };
  /** Requests with an `Idempotency-Key` that are being carried out. */
  claims: Columns<Claim>;
  ledger_postings: { id: string; memo: string; at: number };
  ledger_entries: {
    account: string;
    /** From 1 within the account. */
    line: number;
    posting: string;
    amount: bigint;
    /** Of the account after it. */
    balance: bigint;
  };
  usage_days: {
    subject: string;
    /** UTC, `2026-03-01`. */
    day: string;
    model: string;
    calls: number;
    prompt_tokens: number;
    completion_tokens: number;
    cached_tokens: number;
    charged: bigint;
    /** Sent neither to a provider nor counted among the prompt tokens. */
    saved_tokens: number;
    saving: bigint;
    share: bigint;
  };
  compression_notes: {
    account: string;
    conversation: string;
    key: string;
    value: string;
    expires_at: number;
  };
  /** The calls whose prompts were compressed. */
  compression_days: {
    changed_calls: number;
    subject: string;
    day: string;
    calls: number;
    tokens_before: number;
    tokens_after: number;
    lost_cache_tokens: number;
    saving: bigint;
    share: bigint;
  };
  compression_method_days: { subject: string; day: string; method: string; calls: number; tokens: number };
  members: { did: string; handle: string | null; registered_at: number; jobs: number };
  /** How far transfers to the treasury are recorded. */
  transfer_cursors: {
    network: string;
    treasury: string;
    height: number;
    block_hash: string;
    first_height: number;
  };
  /** Amounts in base units of USDC: millionths. */
  transfers: Columns<EndedTransfer>;
  /** What is bought by an on-chain payment: a key's time, or a top-up. */
  orders: Columns<OrderRow>;
  /** Money on its way out of the treasury, in base units: refunds and withdrawals. */
  payouts: Columns<PayoutRow>;
  payout_attempts: Columns<PayoutAttempt> & { attempt: number };
  /** Amounts in base units of the asset. */
  x402_payments: Columns<PaymentRow, { tx: 'tx_hash' }>;
  x402_channels: Columns<ChannelRow>;
  tenants: Columns<TenantRow>;
  /** Which tenant a key of `api_keys` opens. */
  tenant_keys: { key_id: string; tenant: string };
  /** Signed records of what left the room of a tenant. */
  room_purges: Columns<PurgeRow> & { tenant: string };
  room_exports: Columns<ExportRow, { from: 'period_from'; to: 'period_to' }> & {
    /** What is needed to write the same bytes again; null once that is over. */
    contents: string | null;
  };
  schema_migrations: { version: number; name: string; applied_at: number };
}
