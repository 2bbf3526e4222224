import type { AwsCredentialSources } from '@tallystick/issuers';
import type { OperatorFile } from './catalogue/schema.ts';

/** The configuration of the inference router. */
export interface ComputeConfig {
  /** What the operator adds to the built-in catalogue, or changes of it. */
  readonly catalogue: OperatorFile;
  /** Keys and base URLs of providers, by the names of their variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What requests to AWS are signed with. */
  readonly aws: AwsCredentialSources;
  /** Output tokens of a choice if the caller sets no limit. */
  readonly defaultMaxOutput: number;
  /** Most bytes of a request that calls a model. */
  readonly maxBodyBytes: number;
  /** Most bytes of payload in one stream, whatever `max_tokens` the caller asked for. */
  readonly maxStreamBytes: number;
  /** Milliseconds from a call's acceptance to its last byte. */
  readonly maxCallMs: number;
  readonly timeouts: {
    /** Milliseconds to a streamed answer's first byte. */
    readonly firstByteMs: number;
    /** Milliseconds to the first byte of an answer in one piece. */
    readonly answerMs: number;
    /** Milliseconds between one byte and the next. */
    readonly idleMs: number;
  };
  /** Days for which callers can rate a call; 0 for never. */
  readonly ratingDays: number;
  /** Days for which prompts and answers are kept for callers who ask for it; 0 for never. */
  readonly keepContentDays: number;
  /** Days for which a call stays in its caller's list; 0 for ever. */
  readonly callListDays: number;
  /** Retries after a provider's first failure that may pass. */
  readonly retries: number;
  /** Milliseconds for which a model rests after its provider said that it has no such model. */
  readonly goneRestMs: number;
  /** Days after which a price is no longer billed by; 0 for never. */
  readonly maxPriceAgeDays: number;
  /** Whether the status probes providers that nobody called lately, at the operator's expense. */
  readonly probesProviders: boolean;
}
