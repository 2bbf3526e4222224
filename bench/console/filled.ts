import { createHash } from 'node:crypto';
import { openSqliteStore } from '../../packages/store/src/sqlite.ts';
import { PEERS } from '../gateway.ts';
import { fill, type Key, newKey, tally } from '../lists/fill.ts';
import { callOf, receiptOf, type Shape } from '../lists/rows.ts';
import { LOAD_CORE, pinned, readyUrl, SERVE, stop } from '../processes.ts';

/** A development service with many calls, and something on every page of the console. */
export interface Filled {
  readonly url: string;
  /** Keys: of the account whose calls they are, of a tenant, and of an operator. */
  readonly keys: { readonly account: string; readonly tenant: string; readonly operator: string };
  /** The id of a call that was really made, and of the session that it is in. */
  readonly call: string;
  readonly session: string;
  stop(): Promise<void>;
}

const MEMBERS = 40;
const SESSION = 'nightly-import-0412';
/** JSON for which the extractive tier needs fewer tokens. */
const SHIPMENTS = JSON.stringify(
  Array.from({ length: 600 }, (_, id) => ({ id, dock: id % 7, hour: id % 24, carrier: `C${id % 9}` })),
);

/** Fills a data directory and serves it, with a stub of a provider behind. @param rows calls, and as many receipts */
export async function startFilled(folder: string, rows: number): Promise<Filled> {
  const data = { TALLY_DATA_DIR: folder };
  tally(data, 'keys', 'init');
  const account = newKey(data);
  const tenant = JSON.parse(tally(data, 'tenant', 'create', '--label', 'Harbour logistics', '--json')) as {
    tenant: string;
  };
  const tenantKey = JSON.parse(tally(data, 'tenant', 'key', tenant.tenant, '--json')) as Key;
  const operator = JSON.parse(tally(data, 'operator-key', 'create', '--json')) as Key;
  tally(data, 'ledger', 'credit', account.id, '250');
  await fillLists(folder, account.id, rows);
  const upstream = pinned([PEERS], {}, LOAD_CORE);
  const child = pinned(SERVE, {
    ...data,
    PORT: '0',
    TALLY_DEVNET: 'on',
    TALLY_PAYMENTS: 'x402',
    TALLY_ANCHOR_PERIOD_SECONDS: '5',
    TALLY_KEEP_CONTENT_DAYS: '30',
    OPENAI_BASE_URL: `${await readyUrl(upstream)}/v1`,
    OPENAI_API_KEY: 'benchmark',
  });
  const url = await readyUrl(child);
  const call = await use(url, { account: account.key, tenant: tenantKey.key, tenantId: tenant.tenant });
  return {
    url,
    keys: { account: account.key, tenant: tenantKey.key, operator: operator.key },
    call,
    session: SESSION,
    stop: () => stop(child, upstream),
  };
}

async function fillLists(folder: string, key: string, rows: number): Promise<void> {
  const shape: Shape = { rows, owner: `caller:${key}`, key, until: Date.now() - 60_000, salt: 20 };
  const say = (what: string): void => void process.stderr.write(`${what}\n`);
  const store = await openSqliteStore(`${folder}/tally.db`);
  await fill(shape, (list) => store.calls.put(list), callOf, say);
  await fill({ ...shape, salt: 21 }, (list) => store.receiptList.put(list), receiptOf, say);
  await store.close();
}

/** Uses the service as its callers do. Returns the id of the call to look at. */
async function use(
  url: string,
  {
    account,
    tenant,
    tenantId,
  }: { readonly account: string; readonly tenant: string; readonly tenantId: string },
): Promise<string> {
  const post = async (path: string, body: unknown, key?: string): Promise<Record<string, unknown>> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const emit = (n: number) => ({ input: `shipment ${n}`, purpose: n % 3 ? 'delivery' : 'hand-over' });
  for (let n = 0; n < 30; n += 1) await post(`/tenants/${tenantId}/receipts`, emit(n), tenant);
  for (let n = 0; n < 20; n += 1) {
    const hash = createHash('sha256').update(`file ${n}`).digest('base64url');
    await post('/v1/anchor', { canonical_sha256: hash }, account);
  }
  for (const [name, limits] of KEYS) await post('/v1/keys', { name, limits, keep: true }, account);
  await post('/v1/webhooks', { url: `${url}/hooks`, events: ['balance.low', 'anchor.final'] }, account);
  for (let n = 0; n < MEMBERS; n += 1)
    await post('/v1/compute/member/register', { did: `did:web:agent-${n}.example`, handle: `agent-${n}` });
  let id = '';
  const agents = [...Array(3).keys()];
  for (const n of agents) {
    const answer = await post('/v1/compute/chat/completions', { ...CALL, ...chat(n) }, account);
    const { svc } = answer as { svc?: { receipt: { receipt_id: string } } };
    if (svc === undefined) throw new Error(JSON.stringify(answer));
    id = svc.receipt.receipt_id;
  }
  return id;
}

const KEYS: readonly (readonly [string, object])[] = [
  ['nightly import', { day_usdc: '0.001', month_usdc: '5', requests_per_minute: 600 }],
  ['support desk', { month_usdc: '40', models: ['openai/gpt-5-mini'], tokens_per_minute: 200_000 }],
  ['laptop of the intern', { day_usdc: '0.5', max_price: { completion: '2' } }],
];

const CALL = {
  model: 'auto',
  svc: {
    session: SESSION,
    anchor: true,
    keep: true,
    compression: 'extractive',
    budget: 0.3,
    tags: { team: 'freight', run: '412' },
  },
};

const chat = (n: number) => ({
  messages: [
    { role: 'system', content: 'You answer questions about freight. Say which row you used.' },
    { role: 'user', content: SHIPMENTS },
    { role: 'user', content: `Which dock had row ${7 + n}?` },
  ],
});
