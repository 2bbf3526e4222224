import { type ErrorCode, type JsonObject, TallyError } from '@tallystick/core';

/** What is wrong with a credential of the Bearer scheme (RFC 6750, section 3.1); `missing`: there is none. */
export type BearerError = 'missing' | 'invalid_token' | 'insufficient_scope';

/** What a provider of models said of a request that it refused, in the words of OpenAI's errors. */
export interface ProviderWords {
  readonly type: string | null;
  readonly code: string | null;
}

/** What a refusal says besides its code, message and field. The HTTP layer alone knows in which header. */
export interface RefusalFacts {
  /** Seconds after which the same request may be taken: at least 1, rounded up where it is told. */
  readonly retryAfter?: number | undefined;
  /** What is wrong with the caller's credential. */
  readonly bearer?: BearerError | undefined;
  /** How to pay: x402's document. */
  readonly payment?: JsonObject | undefined;
  readonly providerWords?: ProviderWords | undefined;
}

interface RefusalOptions extends RefusalFacts {
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/** A refusal with facts that the answer tells in headers, or in the problem document. */
export class Refusal extends TallyError {
  readonly facts: RefusalFacts;

  constructor(code: ErrorCode, message: string, { field, cause, ...facts }: RefusalOptions) {
    super(code, message, cause === undefined ? { field } : { field, cause });
    this.facts = facts;
  }
}

const NO_FACTS: RefusalFacts = {};

/** The facts of whatever was thrown; none where it is no refusal with facts. */
export function factsOf(thrown: unknown): RefusalFacts {
  return thrown instanceof Refusal ? thrown.facts : NO_FACTS;
}
