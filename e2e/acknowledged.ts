import assert from 'node:assert/strict';
import { type Key, Placed } from './log-client.ts';
import { ALONE, post } from './process.ts';

/** Free mints and anchored hashes that a service has acknowledged during a fault. */
export class Acknowledged {
  readonly placed: Placed;
  readonly #receipts = new Map<string, string>();
  readonly #name: string;
  #asked = 0;

  /** @param name distinguishes the inputs and hashes from those of other instances */
  constructor(name: string) {
    this.#name = name;
    this.placed = new Placed(name);
  }

  get receipts(): number {
    return this.#receipts.size;
  }

  /**
   * Mints a receipt and records it once the service has acknowledged it.
   * @returns the status: 200, or 503 with a problem document
   * @param patienceMs milliseconds within which it must be answered
   * @throws when the connection breaks, there is no answer in time, or the status is another one
   */
  async mint(url: string, patienceMs = 30_000): Promise<number> {
    const body = { input: `${this.#name} ${this.#asked++}`, purpose: 'fault' };
    const { status, text } = await post(`${url}/v1/receipt/free`, body, {}, AbortSignal.timeout(patienceMs));
    const answer = JSON.parse(text) as { receipt_id?: string; code?: string };
    if (status === 200 && answer.receipt_id !== undefined) this.#receipts.set(answer.receipt_id, text);
    else assert.deepEqual({ status, code: answer.code }, { status: 503, code: 'unavailable' });
    return status;
  }

  /** Asserts that every acknowledged receipt is still returned, byte for byte. */
  async expectKept(url: string): Promise<void> {
    for (const [id, text] of this.#receipts) {
      const stored = await fetch(`${url}/v1/receipt/${id}`, { headers: ALONE });
      assert.equal(await stored.text(), text);
    }
  }

  /** The service knows none of the acknowledged receipts. */
  async expectUnknown(url: string): Promise<void> {
    for (const id of this.#receipts.keys()) {
      const asked = await fetch(`${url}/v1/receipt/${id}`, { headers: ALONE });
      const { code } = (await asked.json()) as { code?: string };
      assert.deepEqual({ status: asked.status, code }, { status: 404, code: 'receipt_not_found' });
    }
  }

  /** Every hash that was acknowledged has its place still, also for those whose answer was lost. */
  async expectPlaced(url: string, key: Key): Promise<void> {
    await this.placed.repeat(url, key);
    await this.placed.place(url, key, 10);
  }
}
