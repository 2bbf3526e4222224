import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import type { KeptAs } from '../../packages/core/src/index.ts';
import type { ListedReceipt } from '../../packages/receipts/src/index.ts';
import type { Store } from '../../packages/store/src/store.ts';
import type { BenchDatabase } from '../lists/databases.ts';
import { BATCH, newKey, tally } from '../lists/fill.ts';
import { receiptOf, type Shape } from '../lists/rows.ts';
import { pinned, readyUrl, SERVE, stop } from '../processes.ts';

/** The receipts end this long before now, so that a service that starts does not look whether they are listed. */
const BEFORE_MS = 3 * 3_600_000;

export interface Filled {
  readonly key: string;
  readonly shape: Shape;
  /** A receipt of the service, as JSON. */
  readonly receipt: string;
  /** Seconds that filling took, and the bytes of the database then. */
  readonly seconds: number;
  readonly bytes: number;
}

/** Where rows are written. `env` is that of a service on the database. */
export interface Target {
  readonly database: BenchDatabase;
  readonly env: Readonly<Record<string, string>>;
  readonly size: number;
  readonly say: (what: string) => void;
}

/** Writes receipts with their rows in the list and their leaves, and waits until the leaves are in the tree. */
export async function fillAll({ database, env, size, say }: Target): Promise<Filled> {
  tally(env, 'keys', 'init');
  const { id, key } = newKey(env, 'enterprise');
  const owner = `caller:${id}`;
  const shape: Shape = { rows: size, owner, key: id, until: Date.now() - BEFORE_MS, salt: 12 };
  const store = await database.open();
  const receipt = await withService(env, async (url) => {
    const text = await sample(url, key);
    await noted(store);
    return text;
  });
  const began = performance.now();
  for (let index = 0; index < size; index += BATCH) {
    await write(store, shape, receipt, index, Math.min(BATCH, size - index));
    if (index % 500_000 === 0) say(`${index.toLocaleString('en')} of ${size.toLocaleString('en')} written`);
  }
  await store.close();
  await withService(env, (url) => integrated(url, size));
  const seconds = (performance.now() - began) / 1_000;
  await database.settle();
  return { key, shape, receipt, seconds, bytes: await bytesOf(env) };
}

/** Waits until the service notes that all its receipts are listed. Without the note, it looks at every receipt whenever it starts. */
async function noted(store: Store): Promise<void> {
  while ((await store.getDocument('receipt-list')) === null) await setTimeout(50);
}

/** The hash of the leaf at an index. */
export function leafAt(index: number): Buffer {
  return hash('sha256', `leaf ${index}`, 'buffer');
}

async function write(
  store: Store,
  shape: Shape,
  sampled: string,
  from: number,
  length: number,
): Promise<void> {
  const listed = Array.from({ length }, (_, n) => receiptOf(from + n, shape));
  const hashes = listed.map((_, n) => leafAt(from + n));
  const batchAt = Math.floor(shape.until / 1_000) + 3_600;
  const { owner, key } = shape;
  await store.log.accept({ hashes, batchAt, quota: null, owner, key });
  await putBodies(store, listed, sampled);
  await store.receiptList.put(listed);
}

/** Stores receipts so that they can be read by their ids. @param sampled a receipt of the service, as JSON; each gets its text, with an id of its own */
export async function putBodies(
  store: Store,
  listed: readonly ListedReceipt[],
  sampled: string,
): Promise<void> {
  const template = JSON.parse(sampled) as { receipt_id: string };
  await Promise.all(
    listed.map(({ id, at, expiresAt, profile, owner, key }) =>
      store.putReceipt({
        id,
        profile: profile as KeptAs,
        tenant: null,
        body: sampled.replace(template.receipt_id, id),
        issuedAt: Math.floor(at / 1_000),
        expiresAt,
        owner,
        key,
      }),
    ),
  );
}

async function withService<T>(
  env: Readonly<Record<string, string>>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const child = pinned(SERVE, env);
  try {
    return await work(await readyUrl(child));
  } finally {
    await stop(child);
  }
}

async function sample(url: string, key: string): Promise<string> {
  const answer = await fetch(`${url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { order: 1, total: '19.90' }, purpose: 'benchmark' }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return text;
}

async function integrated(url: string, size: number): Promise<void> {
  for (;;) {
    const { tree_size } = (await (await fetch(`${url}/v1/log`)).json()) as { tree_size: number };
    if (tree_size >= size) return;
    await setTimeout(200);
  }
}

async function bytesOf(env: Readonly<Record<string, string>>): Promise<number> {
  const { TALLY_DATABASE_URL: url, TALLY_DATA_DIR: folder = '' } = env;
  if (url === undefined) return statSync(join(folder, 'tally.db')).size;
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select pg_database_size(current_database()) as bytes');
  await client.end();
  return Number(rows[0].bytes);
}
