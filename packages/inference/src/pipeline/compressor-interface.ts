import type { Excerpt, ExcerptTask } from '../compression/excerpt.ts';
import type { CompressionOptions } from '../compression/options.ts';
import type { Removed } from '../compression/task.ts';
import type { ChatBody } from '../types.ts';

/** What compression did to a prompt that it looked at. */
export interface Compression {
  /** The encoding that counted the tokens. */
  readonly tokenizer: string;
  readonly estimate: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly methods: Readonly<Record<string, number>>;
  readonly removed: readonly Removed[];
  readonly layout: Layout;
}

/** The distribution of the prompt's tokens over its messages. */
export interface Layout {
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** Number of messages that were sent in an earlier call, so that a provider may have cached them. */
  readonly sent: number;
  /** Whether one of those was sent in another form than now. */
  readonly changed: boolean;
}

/** A request's body after compression. */
export interface Compressed {
  readonly body: ChatBody;
  /** Null where there was nothing to compress. */
  readonly compression: Compression | null;
  /** A note about it for the answer. */
  readonly note: string | null;
}

export interface ToCompress {
  readonly body: ChatBody;
  readonly options: CompressionOptions;
  readonly account: string;
  readonly session: string | null;
  /** The most tokens that the messages may have, if no model accepts more. */
  readonly fit?: number;
  /** Whether nothing may be stored, because the prompt is not sent. */
  readonly dry?: boolean;
}

/** Shortens a prompt before it is routed. What a provider's cache depends on keeps its bytes. */
export interface Compressor {
  compress(request: ToCompress): Promise<Compressed> | Compressed;
  /** Writes what a model asked for of a block that was cut. */
  excerpt(task: ExcerptTask): Promise<Excerpt>;
  /** Prompts that wait to be compressed, or are being compressed. */
  waiting(): number;
  /** Resolves once all notes are stored. */
  close(): Promise<void>;
}
