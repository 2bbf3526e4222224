import type {
  ApiKeyRow,
  DeliveryRow,
  ExportRow,
  OperatorKeyRow,
  PurgeRow,
  TenantRow,
  WebhookRow,
} from '@tallystick/callers';
import type { VerifierKey } from '@tallystick/core';
import type { CallRow, ContentRow, LearnedRow, RateableCall } from '@tallystick/inference';
import type { IssuerRow } from '@tallystick/issuers';
import type { Incident, ReceiptRow, SessionPlaceRow, SessionRow, StatusDay } from '@tallystick/kit';
import type { Claim } from '@tallystick/ledger';
import type { Leaf, PostingAttempt, StoredCheckpoint, Tile } from '@tallystick/log';
import type {
  ChannelRow,
  EndedTransfer,
  OrderRow,
  PaymentRow,
  PayoutAttempt,
  PayoutRow,
  TreasuryMark,
} from '@tallystick/payments';
import type { ListedReceipt, StreamHeadRow, StreamRound, StreamRow } from '@tallystick/receipts';
import type { Generated } from 'kysely';
import type { CallCount, CallTag } from './call-rows.ts';
import type { ReceiptCountRow } from './receipt-list-rows.ts';
import type { SessionSums } from './session-list-rows.ts';

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

type Value<Of> = Of extends string ? string : Of;

/** The columns that store the rows of a contract: its properties in snake case, or as `Names` renames them. */
type Columns<Row, Names = unknown> = {
  [P in keyof Row & string as P extends keyof Names ? Names[P] & string : Snake<P>]-?: Value<Row[P]>;
};

/** The tables, as `migrations/` leaves them. Times are unix seconds. */
export interface Schema {
  receipts: Omit<Columns<ReceiptRow>, 'body'> & {
    /** Null once purged. */
    body: string | null;
    /** `NewReceipt.owner`. Earlier releases join a table whose column is `owner`. */
    owned_by: Generated<string | null>;
    /** `NewReceipt.key`. */
    made_with: Generated<string | null>;
  };
  receipt_list: Columns<ListedReceipt>;
  receipt_counts: Columns<ReceiptCountRow>;
  session_list: Columns<SessionSums>;
  sessions: Columns<SessionRow>;
  session_places: Columns<SessionPlaceRow>;
  streams: Columns<StreamRow>;
  stream_rounds: Columns<StreamRound>;
  stream_heads: Columns<StreamHeadRow>;
  idempotency: {
    scope: string;
    request_hash: string;
    /** Id of the receipt whose body is the response, so that a body is stored once. */
    receipt_id: string | null;
    /** The response where it is not a receipt. */
    response: string | null;
    expires_at: number;
  };
  counters: { counter: string; used: number; expires_at: number };
  issuers: Columns<IssuerRow>;
  documents: { name: string; version: number; body: string };
  api_keys: Columns<ApiKeyRow>;
  operator_keys: Columns<OperatorKeyRow>;
  leaves: Columns<Leaf, { index: 'idx' }>;
  /** Has one row, which every writer of the log locks. */
  log_state: {
    id: number;
    /** Index of the next leaf, which is the number of accepted leaves. */
    next_index: number;
    /** The least `batch_at` that the next leaf may have. */
    batch_floor: number;
    head_size: number;
    /** Null while the tree is empty. */
    head_root: Uint8Array | null;
    lease_epoch: number;
    lease_holder: string | null;
    /** Unix seconds with fractions, by the database's clock. */
    lease_expires_at: number;
    /** Null, as the next two are, until the log is claimed. */
    origin: string | null;
    chain_id: number | null;
    public_key: string | null;
  };
  tiles: Columns<Tile, { index: 'idx' }>;
  checkpoints: Columns<StoredCheckpoint>;
  /** The leaves of the hashes that an account handed in. */
  anchor_list: { owner: string; idx: number };
  /** Every witness that was ever configured. Rows are never removed. */
  log_witnesses: Columns<VerifierKey>;
  postings: {
    sequence: number;
    batch_at: number;
    size: number;
    root: Uint8Array;
    state: string;
    nonce: number;
    /** Null, as the next three are, while the posting is in no block. */
    tx_hash: string | null;
    block_height: number | null;
    block_hash: string | null;
    block_time: number | null;
    finalized_at: number | null;
  };
  posting_attempts: Columns<PostingAttempt> & {
    /** From 1, in the order in which the attempts were made. */
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
    /** Null, or an id of those in whose spending the call counts. */
    spender: string | null;
    owner: string | null;
    tokens: Generated<number>;
    minute: Generated<number>;
    /** See `SliceStage`; null of the reservation of one call. */
    slice: string | null;
  };
  /** What API keys and DIDs were charged for calls that count in their spending. */
  spending: { spender: string; day: string; charged: bigint };
  did_limits: { did: string; limits: string };
  processes: {
    /** Random; each process chooses one when it starts. */
    id: string;
    /** Unix seconds with fractions, by the database's clock. */
    lease_until: number;
  };
  /** What processes tell each other of models that rest. */
  model_rests: {
    /** Id in `processes`, also of one that has ended. */
    process: string;
    /** `<provider>/<the provider's own name for it>`. */
    model: string;
    /** Unix seconds with fractions, by the database's clock. */
    until: number;
    why: string;
  };
  /** Requests with an `Idempotency-Key` that are under way. */
  claims: Columns<Claim>;
  ledger_postings: {
    id: string;
    memo: string;
    at: number;
    /** The account that a settled call was made as; null of other postings. */
    owner: Generated<string | null>;
  };
  /** The calls of models. `at` is in Unix milliseconds. */
  calls: Columns<CallRow>;
  call_contents: Columns<ContentRow>;
  call_tags: Columns<CallTag>;
  call_details: { id: string; body: string };
  /** Processes that write rows of calls. Up to `listed_until`, in Unix seconds, every settled call of theirs has its row. */
  call_writers: { process: string; listed_until: number };
  /** Sums of calls by span (60, 3600 or 86400 seconds), its beginning, and band of latency. */
  call_counts: Columns<CallCount>;
  ledger_entries: {
    account: string;
    /** From 1 within each account. */
    line: number;
    posting: string;
    amount: bigint;
    /** Balance of the account after this entry. */
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
    /** Tokens that compression removed; they were neither sent to a provider nor counted as prompt tokens. */
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
  /** What compression did, by subject and day. */
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
  /** What calls of each model came to, added up by all processes. */
  learned: Columns<LearnedRow>;
  /** Calls that can be rated; the last four are null until one is. */
  rated_calls: Columns<RateableCall> & {
    score: number | null;
    label: string | null;
    comment: string | null;
    rated_at: number | null;
  };
  members: { did: string; handle: string | null; registered_at: number; jobs: number };
  /** The block up to which transfers to the treasury are recorded. */
  transfer_cursors: {
    network: string;
    treasury: string;
    height: number;
    block_hash: string;
    first_height: number;
  };
  /** The block up to which the books were compared with the chain. */
  treasury_marks: Columns<TreasuryMark> & { network: string };
  /** Confirmed transfers. Amounts are base units of USDC (millionths). */
  transfers: Columns<EndedTransfer>;
  /** Orders that are paid by an on-chain payment: a key, its renewal, or a top-up. */
  orders: Columns<OrderRow>;
  /** Refunds and withdrawals, which leave the treasury. Amounts are base units. */
  payouts: Columns<PayoutRow>;
  payout_attempts: Columns<PayoutAttempt> & { attempt: number };
  /** Amounts in base units of the asset. */
  x402_payments: Columns<PaymentRow, { tx: 'tx_hash' }>;
  x402_channels: Columns<ChannelRow>;
  tenants: Columns<TenantRow>;
  /** The tenant of a key in `api_keys`. */
  tenant_keys: { key_id: string; tenant: string };
  /** Signed records of what was purged from a tenant's evidence room. */
  room_purges: Columns<PurgeRow> & { tenant: string };
  room_exports: Columns<ExportRow, { from: 'period_from'; to: 'period_to' }> & {
    /** What is needed to write the same bytes again; null once they are written. */
    contents: string | null;
  };
  /** Times of webhooks and of the status are unix milliseconds. */
  webhooks: Columns<WebhookRow> & { lease_until: Generated<number> };
  webhook_deliveries: Columns<DeliveryRow>;
  /** What webhooks were told last, by what it is of. */
  webhook_marks: { name: string; value: string };
  /** The state that each endpoint, provider and model was found in last. */
  status_states: { kind: string; id: string; state: string; started_at: number | null };
  status_days: Columns<StatusDay>;
  status_incidents: Columns<Incident>;
  schema_migrations: {
    version: number;
    name: string;
    applied_at: number;
    /** The release that brought the database to the version; null where that was before it was recorded. */
    release: string | null;
    /** The least version that a release must know to work on the database since then; null where any will do. */
    needs: number | null;
  };
}
