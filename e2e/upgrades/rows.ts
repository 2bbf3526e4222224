import type { Row, Tables } from './tables.ts';

const AT = 1_790_000_000;
const DID = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
const ACCOUNT = 'caller:key_fixture';
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const TX = `0x${'ab'.repeat(32)}`;
const NETWORK = 'eip155:31337';
const TENANT = 't_fixture';

/** Rows for the tables that the requests of `make.ts` leave empty, by the names of their columns. */
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  idempotency: [
    { scope: 'fixture a', request_hash: 'a', receipt_id: null, response: '{"a":1}', expires_at: AT + 9 },
  ],
  counters: [{ counter: 'fixture', used: 3, expires_at: AT + 9 }],
  reservations: [{ id: 'fixture', account: 'external', amount: 0, dust: 0, expires_at: AT + 9 }],
  usage_days: [
    {
      subject: DID,
      day: '2026-09-20',
      model: 'local/extract-1',
      calls: 2,
      prompt_tokens: 90,
      completion_tokens: 10,
      cached_tokens: 0,
      charged: 12,
      share: 1,
    },
  ],
  members: [
    { did: DID, handle: 'fixture', registered_at: AT, jobs: 120 },
    { did: `${DID}x`, handle: null, registered_at: AT, jobs: 0 },
  ],
  compression_notes: [
    { account: ACCOUNT, conversation: 'c', key: 'k', value: '{"n":1}', expires_at: AT + 9 },
  ],
  compression_days: ['a', 'b'].map((subject) => ({
    subject,
    day: '2026-09-20',
    calls: 2,
    tokens_before: 100,
    tokens_after: 60,
    lost_cache_tokens: 1,
    saving: 7,
    share: 3,
  })),
  compression_method_days: ['a', 'b'].map((subject) => ({
    subject,
    day: '2026-09-20',
    method: 'lines',
    calls: 2,
    tokens: 40,
  })),
  transfer_cursors: [{ network: NETWORK, treasury: ADDRESS, height: 12, block_hash: TX, first_height: 1 }],
  transfers: [
    {
      id: 'fixture-undecided',
      network: NETWORK,
      tx_hash: TX,
      ordinal: 0,
      height: 9,
      block_hash: TX,
      block_time: AT,
      sender: ADDRESS,
      amount: 5_000_000,
      memo: null,
      seen_at: AT,
      outcome: null,
      reference: null,
      ended_at: null,
    },
  ],
  orders: [
    {
      id: 'ord_fixture',
      kind: 'key',
      state: 'open',
      tier: 'pro',
      months: 1,
      contact: 'mailto:a@example.com',
      amount: 29_000_001,
      created_at: AT,
      expires_at: AT + 9,
    },
  ],
  payouts: [
    {
      id: 'out_fixture',
      kind: 'withdrawal',
      state: 'waiting',
      network: NETWORK,
      account: ACCOUNT,
      address: ADDRESS,
      amount: 1_000_000,
      created_at: AT,
    },
  ],
  payout_attempts: [
    {
      payout: 'out_fixture',
      attempt: 1,
      sender: ADDRESS,
      nonce: 0,
      tx_hash: TX,
      raw: '0x02',
      max_fee_per_gas: '3000000000',
      max_priority_fee_per_gas: '1000000000',
      created_at: AT,
    },
  ],
  x402_payments: [
    {
      id: 'pay_fixture',
      identifier: 'fixture',
      scheme: 'exact',
      payer: ADDRESS,
      amount: 1_000,
      charged: 1_000,
      request_hash: 'a',
      detail: '{}',
      state: 'failed',
      tx_hash: TX,
      receipt_id: null,
      lease_until: AT,
      created_at: AT,
    },
  ],
  x402_channels: [{ id: 'ch_fixture', version: 1, claimable: 3, document: '{}' }],
  tenants: [{ id: TENANT, label: 'fixture', created_at: AT, revoked_at: null, swept_to: AT }],
  tenant_keys: [{ key_id: 'key_fixture', tenant: TENANT }],
  room_purges: [{ tenant: TENANT, sequence: 1, body: '{}' }],
  room_exports: [
    {
      tenant: TENANT,
      created_at: AT,
      receipt_id: 'r_fixture',
      manifest_sha256: 'ab'.repeat(32),
      period_from: 0,
      period_to: AT,
      receipts: 1,
      bytes: 1_000,
      resumable_until: AT + 9,
      contents: '{}',
    },
  ],
  processes: [{ id: 'p_fixture', lease_until: AT + 0.5 }],
  claims: [{ scope: 'fixture b', request_hash: 'b', process: 'p_fixture', token: 't' }],
  log_witnesses: [{ name: 'witness.example', public_key: new Uint8Array(32).fill(7) }],
};

/** A receipt past its retention, whose body is gone. */
const PURGED: Row = {
  id: 'r_nano_1700000000_fixture',
  profile: 'nano',
  tenant: null,
  body: null,
  issued_at: AT - 9,
  expires_at: AT - 1,
};

/** Gives rows to every table that has none. @throws if `ROWS` has none for it either */
export async function addMissingRows(tables: Tables): Promise<void> {
  if (!(await tables.read('receipts', ['body'])).includes('NULL')) await tables.insert('receipts', PURGED);
  for (const name of await tables.names()) {
    const columns = await tables.columns(name);
    if ((await tables.read(name, columns)).length > 0) continue;
    const rows = ROWS[name];
    if (rows === undefined)
      throw new Error(`The service left ${name} empty, and rows.ts has no rows for it.`);
    for (const row of rows) await tables.insert(name, row);
  }
}
