import type { Ed25519Engine } from '../ed25519/profile.ts';
import { equalBytes } from '../encoding/bytes.ts';

interface EngineQuery {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly answer: boolean | Promise<boolean>;
}

/**
 * An engine that remembers its newest answers and passes on only new questions. The arrays must not change while it
 * is in use.
 */
export class RememberingEngine implements Ed25519Engine {
  readonly #engine: Ed25519Engine;
  readonly #limit: number;
  /** Remembered questions with their answers, by the beginning of the signature; the one used last is at the end. */
  readonly #asked = new Map<number, EngineQuery>();

  /** @param limit how many answers are remembered */
  constructor(engine: Ed25519Engine, limit: number) {
    this.#engine = engine;
    this.#limit = limit;
  }

  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean> {
    const key = signature.subarray(0, 6).reduce((number, byte) => number * 256 + byte, 0);
    const known = this.#asked.get(key);
    const isSame =
      known !== undefined &&
      equalBytes(known.signature, signature) &&
      equalBytes(known.publicKey, publicKey) &&
      equalBytes(known.message, message);
    const answer = isSame ? known.answer : this.#engine.verify(publicKey, message, signature);
    this.#asked.delete(key);
    this.#asked.set(key, { publicKey, message, signature, answer });
    const [oldest] = this.#asked.size > this.#limit ? this.#asked.keys() : [];
    if (oldest !== undefined) this.#asked.delete(oldest);
    return answer;
  }
}
