import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '@tallystick/core';
import { onTestFinished } from 'vitest';
import { receiptIdOf } from '../../packages/server/test/service.ts';
import { Acknowledged } from '../acknowledged.ts';
import { fsck, getJson, type Key, SOUND, statusOf, until, untilAnchored } from '../log-client.ts';
import { type Payer, payer } from '../payer.ts';
import { ALONE, type Env, residentMiB, type Served, tally } from '../process.ts';

/** Seconds until `/readyz` must show a fault; `RECOVERED_SECONDS` after its end, everything must work again. */
export const READY_TRUE_SECONDS = 10;
export const RECOVERED_SECONDS = 30;
/** Most memory of a running service in MiB, including what it holds while the database does not answer. */
export const MEMORY_MIB = 400;
/** Milliseconds within which a request is answered, whatever the database does. */
const PATIENCE_MS = 30_000;
/** Milliseconds within which requests are answered that need neither database nor chain, on a busy machine. */
const AT_ONCE_MS = 3_000;
const PAUSE_MS = 50;
/** Seconds until the next status document: one begins every minute, up to five seconds late, and its probes take time. */
const NEXT_STATUS_SECONDS = 75;

/** Writes to services during a fault, and records what they have acknowledged. */
export class Load {
  readonly #acknowledged: Acknowledged;
  readonly #key: Key;
  readonly #paid = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #writers: Promise<void>[] = [];
  #failure: unknown = null;
  #ending = false;

  /** @param name distinguishes its inputs from those of other loads */
  constructor(name: string, key: Key) {
    this.#acknowledged = new Acknowledged(name);
    this.#key = key;
  }

  /** Number of hashes that have a place in the log. */
  get placed(): number {
    return this.#acknowledged.placed.answered;
  }

  /** Number of receipts that were paid for. */
  get paid(): number {
    return this.#paid.size;
  }

  /** Mints receipts and submits hashes until `stop` or the end of the test; with a chain, it also pays for receipts. */
  start({ url }: Served, rpcUrl?: string): void {
    onTestFinished(() => this.#stopping.abort());
    const { placed } = this.#acknowledged;
    this.#write(() => this.#acknowledged.mint(url, PATIENCE_MS));
    this.#write(() =>
      placed.place(url, this.#key, 5, AbortSignal.timeout(PATIENCE_MS)).catch((error: unknown) => {
        if (String(error).includes('fetch failed')) throw error;
        expectUnavailable(error);
      }),
    );
    if (rpcUrl === undefined) return;
    const alice = payer('alice', rpcUrl, { schemes: ['exact'] });
    this.#write(() => this.#pay(url, alice));
  }

  /** From now on the service may end: a client that meets a closed port or a broken connection stops. */
  letEnd(): void {
    this.#ending = true;
  }

  /** Resolves with the last answers. Rejects if one was neither a success nor 503, or did not come in time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writers);
    if (this.#failure !== null) throw this.#failure;
  }

  /** Asserts, on a working service, that everything acknowledged is stored, hashes are anchored, and the log is sound. */
  async expectKept(service: Served, env: Env, rpcUrl: string): Promise<void> {
    const { url, pid } = service;
    assert.ok(this.#acknowledged.receipts > 0, 'nothing was minted');
    await this.#acknowledged.expectKept(url);
    await this.#acknowledged.expectPlaced(url, this.#key);
    for (const [id, text] of this.#paid) {
      assert.equal(await (await fetch(`${url}/v1/receipt/${id}`)).text(), text);
    }
    await untilAnchored(url, (await statusOf(url)).accepted);
    assert.deepEqual((await fsck(env, rpcUrl)).faults, SOUND.faults);
    assert.ok(residentMiB(pid) < MEMORY_MIB, `${residentMiB(pid)} MiB`);
  }

  #write(once: () => Promise<unknown>): void {
    const run = async (): Promise<void> => {
      while (!this.#stopping.signal.aborted) {
        await once();
        await setTimeout(PAUSE_MS);
      }
    };
    this.#writers.push(
      run().catch((error: unknown) => {
        if (!(this.#ending && String(error).includes('fetch failed'))) this.#failure ??= error;
      }),
    );
  }

  async #pay(url: string, { fetch: buy }: Payer): Promise<void> {
    const body = JSON.stringify({ input: `paid ${this.#paid.size}`, purpose: 'fault' });
    const response = await buy(`${url}/v1/receipt/emit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(expectNoChain);
    if (response === null) return;
    const text = await response.text();
    if (response.status === 200) this.#paid.set(receiptIdOf(text), text);
    else assert.ok([402, 503].includes(response.status), text);
  }
}

function expectUnavailable(error: unknown): void {
  assert.match(String(error), /"status":503/);
}

/** Accepts the payer's error when the chain, which it asks itself, is down. */
function expectNoChain(error: unknown): null {
  assert.match(String(error), /HTTP request failed|fetch failed|Failed to create payment payload/);
  return null;
}

/** The status of `/readyz`, which must answer at once at any time, like `/healthz` and `/metrics`. */
export async function readiness(url: string): Promise<number> {
  const paths = ['/readyz', '/healthz', '/metrics'];
  const [ready, ...others] = await Promise.all(
    paths.map(
      async (path) =>
        (await fetch(url + path, { headers: ALONE, signal: AbortSignal.timeout(AT_ONCE_MS) })).status,
    ),
  );
  assert.deepEqual(others, [200, 200]);
  return ready ?? 0;
}

export function untilReady(url: string): Promise<number> {
  return until(
    () => readiness(url),
    (status) => status === 200,
    RECOVERED_SECONDS,
  );
}

export function untilUnready(url: string): Promise<number> {
  return until(
    () => readiness(url),
    (status) => status === 503,
    READY_TRUE_SECONDS,
  );
}

/** Asserts that the books balance, and that they agree with the chain after interrupted payments were resolved. */
export async function expectBooksAgree(env: Env): Promise<void> {
  for (const command of ['check', 'reconcile']) {
    await until(
      () => tally(['ledger', command], env),
      ({ code }) => code === 0,
    );
  }
}

/** Waits until `/status` serves no document, as when none can be stored. */
export function untilStatusIsRed(url: string): Promise<number> {
  return until(
    async () => (await fetch(`${url}/status`, { signal: AbortSignal.timeout(PATIENCE_MS) })).status,
    (status) => status === 503,
    NEXT_STATUS_SECONDS,
  );
}

/** Waits for the next document, and asserts that every endpoint in it is up. */
export async function expectStatusIsGreen(url: string): Promise<void> {
  const now = Date.now();
  const document = await until(
    () => getJson<{ issued_at?: string; endpoints: JsonObject[] }>(`${url}/status`),
    ({ issued_at }) => issued_at !== undefined && Date.parse(issued_at) > now,
    NEXT_STATUS_SECONDS,
  );
  const states = document.endpoints.map(({ name, state, code }) => ({ name, state, code }));
  assert.deepEqual(
    states,
    states.map(({ name }) => ({ name, state: 'up', code: 'ok' })),
  );
}
