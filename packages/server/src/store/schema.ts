import type { Generated } from 'kysely';

/** The tables, as `migrations/` leaves them. Times are unix seconds. */
export interface Schema {
  receipts: {
    id: string;
    profile: string;
    tenant: string | null;
    /** Null once purged. */
    body: string | null;
    issued_at: number;
    expires_at: number;
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
  issuers: { did: string; record: string; sequence: number };
  documents: { name: string; version: number; body: string };
  api_keys: {
    id: string;
    hash: string;
    tier: string;
    label: string | null;
    created_at: number;
    revoked_at: number | null;
    /** The key is good until then; null where it has no end. */
    expires_at: number | null;
  };
  leaves: { idx: number; hash: Uint8Array; batch_at: number };
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
  tiles: { level: number; idx: number; hashes: Uint8Array };
  checkpoints: { size: number; root: Uint8Array; note: string };
  /** Every witness that was ever configured; rows are never removed. */
  log_witnesses: { name: string; public_key: Uint8Array };
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
  posting_attempts: {
    sequence: number;
    /** From 1, in the order of their making. */
    attempt: number;
    nonce: number;
    tx_hash: string;
    raw: string;
    max_fee_per_gas: string;
    max_priority_fee_per_gas: string;
    created_at: number;
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
  claims: { scope: string; request_hash: string; process: string; token: string };
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
  transfers: {
    id: string;
    network: string;
    tx_hash: string;
    /** From 0: of the transfers to the treasury in the transaction. */
    ordinal: number;
    height: number;
    block_hash: string;
    block_time: number;
    sender: string;
    amount: bigint;
    memo: string | null;
    seen_at: number;
    /** Null, with the next two, until it has ended in one way. */
    outcome: string | null;
    reference: string | null;
    ended_at: number | null;
  };
  /** What is bought by an on-chain payment: a key's time, or a top-up. */
  orders: {
    id: string;
    kind: string;
    state: string;
    tier: string | null;
    months: number;
    contact: string | null;
    did: string | null;
    /** Of the ledger: what a top-up credits. */
    account: string | null;
    /** Base units, exactly; null where no quote was given. */
    amount: bigint | null;
    payment: string | null;
    created_at: number;
    expires_at: number | null;
    api_key: string | null;
    paid_until: number | null;
    /** Hex of 32 bytes, from which the key follows together with the keyring's secret; null once delivered. */
    seed: string | null;
    sealed: string | null;
    attempts: Generated<number>;
    /** When something is to be done about it: deliver it, or forget its seed or its quote. */
    due_at: number | null;
    problem: string | null;
    delivered_at: number | null;
  };
  /** Money on its way out of the treasury, in base units: refunds and withdrawals. */
  payouts: {
    id: string;
    kind: string;
    state: string;
    network: string;
    /** Of the ledger: what is credited again where it is not paid. */
    account: string;
    address: string;
    amount: bigint;
    reason: string | null;
    /** The transfer that is refunded. */
    transfer: string | null;
    created_at: number;
    sender: string | null;
    nonce: number | null;
    tx_hash: string | null;
    height: number | null;
    note: string | null;
    ended_at: number | null;
  };
  payout_attempts: {
    payout: string;
    attempt: number;
    sender: string;
    nonce: number;
    tx_hash: string;
    raw: string;
    max_fee_per_gas: string;
    max_priority_fee_per_gas: string;
    created_at: number;
  };
  /** Amounts in base units of the asset. */
  x402_payments: {
    id: string;
    identifier: string | null;
    scheme: string;
    payer: string;
    amount: bigint;
    charged: bigint;
    request_hash: string;
    detail: string;
    state: string;
    tx_hash: string | null;
    receipt_id: string | null;
    lease_until: number;
    created_at: number;
  };
  x402_channels: { id: string; version: number; claimable: bigint; document: string };
  tenants: {
    id: string;
    label: string | null;
    created_at: number;
    revoked_at: number | null;
    /** What left the room until then is recorded. */
    swept_to: number;
  };
  /** Which tenant a key of `api_keys` opens. */
  tenant_keys: { key_id: string; tenant: string };
  /** Signed records of what left the room of a tenant. */
  room_purges: { tenant: string; sequence: number; body: string };
  room_exports: {
    tenant: string;
    created_at: number;
    receipt_id: string;
    manifest_sha256: string;
    period_from: number;
    period_to: number;
    receipts: number;
    bytes: number;
    resumable_until: number;
    /** What is needed to write the same bytes again; null once that is over. */
    contents: string | null;
  };
  schema_migrations: { version: number; name: string; applied_at: number };
}
