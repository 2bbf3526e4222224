import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '@tallystick/core';
import { receiptIdOf } from '../../packages/server/test/service.ts';
import { type Key, Placed } from '../log-client.ts';
import type { Payer } from '../payer.ts';
import { ALONE } from '../process.ts';

const PATIENCE_MS = 20_000;
const PAUSE_MS = 50;
const CHAT = {
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Say it.' }],
  max_tokens: 20,
};
/** Answers that say that it does not work now, that it took too long, or that the budget is used up. */
const NOT_NOW = new Set([402, 408, 409, 429, 502, 503, 504]);
const isNotNow = ({ status, text }: Answer): boolean =>
  NOT_NOW.has(status) || (JSON.parse(text) as { code?: string }).code === 'model_gone';

/** A call of a model that was answered. */
interface Billed {
  readonly receipt: JsonObject;
  /** Nano-USDC. */
  readonly cost: bigint;
}

type Envelope = JsonObject & {
  readonly receipt_id: string;
  readonly settlement: { readonly amount: string };
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Clients of a service with several addresses, of which each request goes to any, and what has been acknowledged to them. */
export class Clients {
  /** Texts of receipts by id. */
  readonly minted = new Map<string, string>();
  readonly paid = new Map<string, string>();
  readonly billed = new Map<string, Billed>();
  readonly placed = new Placed('chaos');
  /** Milliseconds of each acknowledged mint since they were last taken. */
  latencies: number[] = [];
  readonly #urls: () => readonly string[];
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];
  #failure: unknown = null;
  #turn = 0;

  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  /** @param budgeted key whose calls a budget ends @param free key without one */
  start(keys: { readonly log: Key; readonly budgeted: Key; readonly free: Key }, payer: Payer): void {
    this.#repeat((number) => this.#mint(`mint-${number}`));
    this.#repeat((number) => this.#mint(`mint-too-${number}`));
    this.#repeat((number) => this.#call(`call-${number}`, keys.free, false));
    this.#repeat((number) => this.#call(`stream-${number}`, keys.free, true));
    this.#repeat((number) => this.#call(`budgeted-${number}`, keys.budgeted, false));
    this.#repeat(() => this.#place(keys.log));
    this.#repeat((number) => this.#pay(`paid-${number}`, payer));
  }

  /** Resolves when what was begun is answered. Rejects with the first answer that may not be. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
    if (this.#failure !== null) throw this.#failure;
  }

  #repeat(once: (number: number) => Promise<void>): void {
    const run = async (): Promise<void> => {
      for (let number = 0; !this.#stopping.signal.aborted; number += 1) {
        await once(number);
        await setTimeout(PAUSE_MS);
      }
    };
    this.#running.push(
      run().catch((error: unknown) => {
        this.#failure ??= error;
        this.#stopping.abort();
      }),
    );
  }

  /** Sends a request under one key, to any process, until it is answered with 200 or the clients stop. */
  async #insist(
    path: string,
    key: string,
    body: JsonObject,
    headers: Record<string, string>,
  ): Promise<Answer | null> {
    for (;;) {
      const answer = await this.#post(path, body, { ...headers, 'idempotency-key': key });
      if (answer?.status === 200) return answer;
      if (answer !== null) assert.ok(isNotNow(answer), `${path} ${answer.status} ${answer.text}`);
      if (this.#stopping.signal.aborted) return null;
      await setTimeout(PAUSE_MS);
    }
  }

  /** Null where there is no whole answer. */
  async #post(path: string, body: JsonObject, headers: Record<string, string>): Promise<Answer | null> {
    const url = this.#anyUrl();
    if (url === null) return null;
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { ...ALONE, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    }
  }

  #anyUrl(): string | null {
    const urls = this.#urls();
    this.#turn += 1;
    return urls[this.#turn % urls.length] ?? null;
  }

  async #mint(key: string): Promise<void> {
    const began = performance.now();
    const answer = await this.#insist('/v1/receipt/free', key, { input: key, purpose: 'chaos' }, {});
    if (answer === null) return;
    this.latencies.push(performance.now() - began);
    this.minted.set(receiptIdOf(answer.text), answer.text);
  }

  async #call(key: string, caller: Key, stream: boolean): Promise<void> {
    const body = { ...CHAT, stream };
    const answer = await this.#post('/v1/compute/chat/completions', body, {
      ...caller,
      'idempotency-key': key,
    });
    if (answer === null) return;
    if (answer.status !== 200) {
      assert.ok(isNotNow(answer), `${key} ${answer.status} ${answer.text}`);
      return;
    }
    const svc = stream ? svcOfStream(answer.text) : (JSON.parse(answer.text) as JsonObject)['svc'];
    if (svc === undefined) return;
    const { receipt } = svc as { receipt: Envelope };
    this.billed.set(receipt.receipt_id, { receipt, cost: nanoOf(receipt.settlement.amount) });
  }

  async #place(key: Key): Promise<void> {
    const url = this.#anyUrl();
    if (url === null) return;
    await this.placed.place(url, key, 5, AbortSignal.timeout(PATIENCE_MS)).catch((error: unknown) => {
      // What was not answered is repeated at the end, and must then get its place.
      if (!/fetch failed|terminated|aborted|"status":(429|503)/.test(String(error))) throw error;
    });
  }

  async #pay(input: string, { fetch: buy }: Payer): Promise<void> {
    const url = this.#anyUrl();
    if (url === null) return;
    const response = await buy(`${url}/v1/receipt/emit`, {
      method: 'POST',
      headers: { ...ALONE, 'content-type': 'application/json' },
      body: JSON.stringify({ input, purpose: 'chaos' }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response === null || text === null || text === undefined) return;
    if (response.status === 200) this.paid.set(receiptIdOf(text), text);
    else assert.ok(isNotNow({ status: response.status, text }), `${input} ${response.status} ${text}`);
  }
}

/** The member `svc` of a stream that came to its end. */
function svcOfStream(text: string): JsonObject | undefined {
  const payloads = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
  const last = payloads.at(-1);
  return last === undefined ? undefined : ((JSON.parse(last) as JsonObject)['svc'] as JsonObject | undefined);
}

/** Nano-USDC of a decimal amount of USDC. */
const nanoOf = (amount: string): bigint => BigInt(Math.round(Number(amount) * 1e9));
