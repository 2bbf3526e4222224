import type { AnswerFact, Incoming } from '@tallystick/kit';
import { type AppContext, header, incomingOf, isProbe } from './context.ts';
import { headersOfFact } from './fact-headers.ts';

/** A request as the domains see it. Facts noted on it go into `headers`. */
export function incomingRequest(c: AppContext, headers: Record<string, string>): Incoming {
  return new IncomingRequest(c, headers);
}

class IncomingRequest implements Incoming {
  readonly #c: AppContext;
  readonly #headers: Record<string, string>;

  constructor(c: AppContext, headers: Record<string, string>) {
    this.#c = c;
    this.#headers = headers;
  }

  get method(): string {
    return this.#c.req.method;
  }

  get url(): string {
    return this.#c.req.url;
  }

  get remoteAddress(): string | undefined {
    return incomingOf(this.#c)?.socket.remoteAddress;
  }

  get idempotencyKey(): string | undefined {
    return this.#c.get('inner')?.idempotencyKey ?? header(this.#c, 'idempotency-key');
  }

  get isProbe(): boolean {
    return isProbe(this.#c);
  }

  header(lowerCaseName: string): string | undefined {
    return header(this.#c, lowerCaseName);
  }

  note(fact: AnswerFact): void {
    Object.assign(this.#headers, headersOfFact(fact));
  }
}
