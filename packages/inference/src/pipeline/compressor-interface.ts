import type { CompressionOptions } from '../compression/options.ts';
import type { Removed } from '../compression/task.ts';
import type { ChatBody } from '../types.ts';

/** What compression did to a prompt that it looked at. */
export interface Compression {
  /** The encoding that counted. */
  readonly tokenizer: string;
  readonly estimate: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly methods: Readonly<Record<string, number>>;
  readonly removed: readonly Removed[];
  readonly layout: Layout;
}

/** Where in the prompt the tokens are, message by message. */
export interface Layout {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** How many of the messages went out in an earlier call, so that a provider may have them in its cache. */
  readonly sent: number;
  /** Whether one of those went out in another form than now. */
  readonly changed: boolean;
}

/** What became of a request's body on its way to the provider. */
export interface Compressed {
  readonly body: ChatBody;
  /** Null where there was nothing to compress. */
  readonly compression: Compression | null;
  /** What the answer is to say about it. */
  readonly note: string | null;
}

export interface ToCompress {
  readonly body: ChatBody;
  readonly options: CompressionOptions;
  readonly account: string;
  readonly session: string | null;
  /** How many tokens the messages may have, where no model takes them otherwise. */
  readonly fit?: number;
  /** Whether nothing is to be remembered, as the prompt is not sent. */
  readonly dry?: boolean;
}

interface Excerpt {
  readonly text: string;
  readonly query: string | null;
  readonly maxTokens: number;
  readonly account: string;
}

/** Makes a prompt shorter before it is routed. What a provider's cache depends on passes to the byte. */
export interface Compressor {
  compress(request: ToCompress): Promise<Compressed> | Compressed;
  /** What a question needs of a text, where it is longer than `maxTokens`. */
  excerpt(wanted: Excerpt): Promise<string>;
  /** Resolves once all is written down. */
  close(): Promise<void>;
}

/** Sends everything as it came. */
export const passthrough: Compressor = {
  compress: ({ body }) => ({ body, compression: null, note: null }),
  excerpt: async ({ text }) => text,
  close: async () => {},
};
