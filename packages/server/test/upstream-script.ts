import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@tallystick/core';

/** A request as the upstream got it. */
export interface UpstreamRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** The body as it came. */
  readonly bytes: Buffer;
}

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** The JSON text of the arguments, as it is split over a stream's events. */
  readonly pieces: readonly string[];
  /** The arguments as an object, which stands in the call itself, as some servers of OpenAI's and Anthropic's formats give it. */
  readonly object?: JsonObject;
}

interface Failure {
  readonly status: number;
  readonly message: string;
  /** The member of the request that the provider blames, in OpenAI's format. */
  readonly param?: string;
  /** The provider's own code, in OpenAI's format. */
  readonly code?: string;
  /** How long to wait, as the body says it in Gemini's format. */
  readonly retryDelay?: string;
}

/** What goes wrong; events are counted from 0, and those before the fault are sent whole. */
export type Fault =
  | (Omit<Failure, 'message'> & {
      readonly kind: 'status';
      readonly message?: string;
      readonly retryAfter?: string;
    })
  /** Reads the request and never answers. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'slow_first_byte'; readonly ms: number }
  /** Answers once the promise has resolved. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  /** Breaks the connection instead of answering. */
  | { readonly kind: 'reset' }
  /** Breaks the connection within an answer; one that is not streamed breaks in its middle. */
  | { readonly kind: 'cut'; readonly after: number }
  /** Ends the answer in good order, but too early. */
  | { readonly kind: 'short'; readonly after: number }
  /** Says nothing more, with the connection open. */
  | { readonly kind: 'stall'; readonly after: number }
  /** @property bit whether it is the next event with one bit wrong */
  | { readonly kind: 'garbage'; readonly after: number; readonly bit?: true }
  /** The provider's own word in a stream that it can't go on. */
  | {
      readonly kind: 'error_event';
      readonly after: number;
      readonly message?: string;
      readonly type?: string;
    }
  /** Writes this many bytes at a time, each in a packet of its own, through characters and lines. */
  | { readonly kind: 'split'; readonly bytes: number };

/** An answer in no provider's format. */
export interface Script {
  /** The text, as it is split over a stream's events. */
  readonly pieces?: readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly finish?: 'stop' | 'length';
  readonly usage?: {
    readonly prompt: number;
    readonly completion: number;
    readonly cached?: number;
    /** Written to the cache; of Anthropic's format only. */
    readonly written?: number;
  };
  /** Stands where the usage would, whatever it is. */
  readonly wrongUsage?: JsonObject;
  /** Whether OpenAI's stream has an empty usage in one more chunk at its end. */
  readonly emptyUsage?: true;
  /** What the model thinks before it answers, which Anthropic and Bedrock sign with `c2ln`. */
  readonly thinking?: string;
  /** Headers of the answer, or of its failure. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the provider's own in the answer, or in every chunk of it; of OpenAI's format only. */
  readonly members?: JsonObject;
  /** Stands where an answer in one piece would, with the head of its format; of OpenAI's chat only. */
  readonly answer?: JsonObject;
  /** Stand where the chunks of a stream would, with the head of its format; of OpenAI's chat only. */
  readonly chunks?: readonly JsonObject[];
  /** Between events of a stream. */
  readonly everyMs?: number;
  readonly fault?: Fault;
}

/** What is said where nothing is scripted: characters of one to four bytes. */
export const defaultPieces: readonly string[] = ['Grüße', ' from ', 'the ', 'up', 'stream ', '🌍', '.'];

export const defaultUsage = { prompt: 12, completion: 8, cached: 4 } as const;

export const textOf = ({ pieces = defaultPieces }: Script): string => pieces.join('');

export const argumentsOf = ({ pieces }: ScriptedToolCall): string => pieces.join('');

/** One provider's wire format. */
export interface Wire {
  readonly contentType: string;
  /** Whether the answer is a stream; when absent what the body's `stream` says. */
  readonly isStream?: (request: UpstreamRequest) => boolean;
  /** Null if the request's credentials are of the form that the provider takes. */
  readonly unauthorized?: (request: UpstreamRequest) => string | null;
  complete(script: Script, request: UpstreamRequest): JsonObject;
  /** The text or the bytes of each event of a stream, its separators included. */
  events(script: Script, request: UpstreamRequest): (string | Uint8Array)[];
  error(failure: Failure): JsonObject;
  /** @param type of the failure, by the provider's own name */
  errorEvent(message?: string, type?: string): string | Uint8Array;
  readonly garbage: string;
}
