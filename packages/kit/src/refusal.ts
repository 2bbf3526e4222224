import { type ErrorCode, type JsonObject, TallyError } from '@tallystick/core';

/** Fault of a credential of the Bearer scheme (RFC 6750, section 3.1); `missing`: there is none. */
export type BearerError = 'missing' | 'invalid_token' | 'insufficient_scope';

/** Error of a model provider that refused a request, with the members of OpenAI's errors. */
export interface ProviderWords {
  readonly type: string | null;
  readonly code: string | null;
}

/** Facts of a refusal besides its code, message and field. Only the HTTP layer knows which headers carry them. */
export interface RefusalFacts {
  /** Seconds after which the same request may succeed: at least 1, rounded up in the answer. */
  readonly retryAfter?: number | undefined;
  /** Fault of the caller's credential. */
  readonly bearer?: BearerError | undefined;
  /** Ways to pay: x402's document. */
  readonly payment?: JsonObject | undefined;
  readonly providerWords?: ProviderWords | undefined;
  /** Place of the next receipt of the session that the request is about: `{id, seq, prev}`. */
  readonly session?: JsonObject | undefined;
}

interface RefusalOptions extends RefusalFacts {
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/** A refusal with facts that the answer gives in headers or in the problem document. */
export class Refusal extends TallyError {
  readonly facts: RefusalFacts;

  constructor(code: ErrorCode, message: string, { field, cause, ...facts }: RefusalOptions) {
    super(code, message, cause === undefined ? { field } : { field, cause });
    this.facts = facts;
  }
}

const NO_FACTS: RefusalFacts = {};

/** The facts of whatever was thrown; none for an error without facts. */
export function factsOf(thrown: unknown): RefusalFacts {
  return thrown instanceof Refusal ? thrown.facts : NO_FACTS;
}
