import assert from 'node:assert/strict';
import { type Key, Placed } from './log-client.ts';
import { post } from './process.ts';

/** Free mints and anchored hashes that a service has acknowledged while it met trouble. */
export class Acknowledged {
  readonly placed: Placed;
  readonly #receipts = new Map<string, string>();
  readonly #name: string;
  #asked = 0;

  /** @param name makes the inputs and hashes differ from those of others */
  constructor(name: string) {
    this.#name = name;
    this.placed = new Placed(name);
  }

  get receipts(): number {
    return this.#receipts.size;
  }

  /**
   * Mints a receipt and keeps it when the service has acknowledged it.
   * @returns the status: 200, or 503 with a problem document
   * @param patienceMs within which it must be answered
   * @throws when the connection breaks, nothing is answered in time, or another status is
   */
  async mint(url: string, patienceMs = 10_000): Promise<number> {
    const body = { input: `${this.#name} ${this.#asked++}`, purpose: 'fault' };
    const { status, text } = await post(`${url}/v1/receipt/free`, body, {}, AbortSignal.timeout(patienceMs));
    const answer = JSON.parse(text) as { receipt_id?: string; code?: string };
    if (status === 200 && answer.receipt_id !== undefined) this.#receipts.set(answer.receipt_id, text);
    else assert.deepEqual({ status, code: answer.code }, { status: 503, code: 'unavailable' });
    return status;
  }

  /** Every receipt that was acknowledged is still answered, byte for byte. */
  async expectKept(url: string): Promise<void> {
    for (const [id, text] of this.#receipts) {
      const kept = await fetch(`${url}/v1/receipt/${id}`);
      assert.equal(await kept.text(), text);
    }
  }

  /** Every hash that was acknowledged has its place still, also for those whose answer was lost. */
  async expectPlaced(url: string, key: Key): Promise<void> {
    await this.placed.repeat(url, key);
    await this.placed.place(url, key, 10);
  }
}
