/** What the inference router is told from outside. */
export interface ComputeConfig {
  /** The operator's catalogue; null for the built-in one alone. */
  readonly catalogueFile: string | null;
  /** Where the catalogue looks up the keys and base URLs of providers, by the names that it gives. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Output tokens of a choice where the caller sets no limit. */
  readonly defaultMaxOutput: number;
  /** Of a request that calls a model. */
  readonly maxBodyBytes: number;
  /** Most bytes of payload in one stream, whatever `max_tokens` the caller asked for. */
  readonly maxStreamBytes: number;
  /** From a call's acceptance to its last byte. */
  readonly maxCallMs: number;
  readonly timeouts: {
    /** To a streamed answer's first byte. */
    readonly firstByteMs: number;
    /** To the first byte of an answer in one piece. */
    readonly answerMs: number;
    /** Between one byte and the next. */
    readonly idleMs: number;
  };
  /** After a provider's first failure that may pass. */
  readonly retries: number;
  /** How long a model is not asked after its provider said that it has no such model. */
  readonly goneRestMs: number;
  /** Whether the status asks a provider that nobody called lately, at the operator's expense. */
  readonly probesProviders: boolean;
}
