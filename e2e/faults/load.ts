import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '@tallystick/core';
import { onTestFinished } from 'vitest';
import { receiptIdOf } from '../../packages/server/test/service.ts';
import { Acknowledged } from '../acknowledged.ts';
import { fsck, getJson, type Key, SOUND, statusOf, until, untilAnchored } from '../log-client.ts';
import { type Payer, payer } from '../payer.ts';
import { type Env, residentMiB, type Served, tally } from '../process.ts';

/** `/readyz` is true within ten seconds, and all is well again within thirty. */
export const READY_TRUE_SECONDS = 10;
export const RECOVERED_SECONDS = 30;
/** Most memory of a running service, with what it keeps while the database does not answer, in MiB. */
export const MEMORY_MIB = 400;
/** A request is answered within this time, whatever the database does. */
const PATIENCE_MS = 30_000;
/** What needs neither database nor chain is answered at once: this is for a busy machine. */
const AT_ONCE_MS = 3_000;
const PAUSE_MS = 50;
/** A document of the status is made every minute, up to five seconds after it began, and its probes take their time. */
const NEXT_STATUS_SECONDS = 75;

/** Writes to services while they meet a fault, and what they have acknowledged of it. */
export class Load {
  readonly #acknowledged: Acknowledged;
  readonly #key: Key;
  readonly #paid = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #writers: Promise<void>[] = [];
  #failure: unknown = null;
  #ending = false;

  /** @param name makes its inputs differ from those of others */
  constructor(name: string, key: Key) {
    this.#acknowledged = new Acknowledged(name);
    this.#key = key;
  }

  /** How many hashes have a place. */
  get placed(): number {
    return this.#acknowledged.placed.answered;
  }

  /** How many receipts were paid for. */
  get paid(): number {
    return this.#paid.size;
  }

  /** Mints and hands in hashes until `stop` or the end of the test; with a chain, pays for receipts too. */
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

  /** From now on the service may end: what meets a closed port, or a connection that breaks, writes no more. */
  letEnd(): void {
    this.#ending = true;
  }

  /** Resolves when the last answers are there. Rejects where one was neither a success nor 503, or none came in time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writers);
    if (this.#failure !== null) throw this.#failure;
  }

  /** Asserts that everything acknowledged is kept, hashes are anchored, and the log is sound, on a service that is well. */
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

/** The payer itself asks the chain, which may be gone. */
function expectNoChain(error: unknown): null {
  assert.match(String(error), /HTTP request failed|fetch failed|Failed to create payment payload/);
  return null;
}

/** What `/readyz` says; it answers at once, always, as `/healthz` and `/metrics` do. */
export async function readiness(url: string): Promise<number> {
  const paths = ['/readyz', '/healthz', '/metrics'];
  const [ready, ...others] = await Promise.all(
    paths.map(async (path) => (await fetch(url + path, { signal: AbortSignal.timeout(AT_ONCE_MS) })).status),
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

/** The books balance, and say what the chain says once payments that were cut off have been looked after. */
export async function expectBooksAgree(env: Env): Promise<void> {
  for (const command of ['check', 'reconcile']) {
    await until(
      () => tally(['ledger', command], env),
      ({ code }) => code === 0,
    );
  }
}

/** Waits until `/status` shows no document, which is how it is red where none can be stored. */
export function untilStatusIsRed(url: string): Promise<number> {
  return until(
    async () => (await fetch(`${url}/status`, { signal: AbortSignal.timeout(PATIENCE_MS) })).status,
    (status) => status === 503,
    NEXT_STATUS_SECONDS,
  );
}

/** The next document that is made says that every endpoint is up. */
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
