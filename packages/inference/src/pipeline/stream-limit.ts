import type { Model } from '../catalogue/catalogue.ts';
import { ProviderError } from '../providers/provider.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { askedOutput } from './output-limit.ts';

/** Bytes allowed in every stream beside its tokens: for the first and last chunk, citations and comments. */
const ANY_STREAM = 1_048_576;
/** Bytes allowed for each token. A chunk of one token of text takes 200 to 400 bytes of JSON; a token of speech, as Base64, 3,300. */
const PER_TOKEN = 4_096;
/** Bytes allowed for each log probability, which takes about 100. */
const PER_LIKELY_TOKEN = 256;

/**
 * The most bytes of a stream's payloads, which follows from the requested tokens: some ten times what an honest
 * provider sends.
 */
export function streamLimit(context: PipelineContext, request: ChatRequest, model: Model): number {
  const { logprobs, top_logprobs: likely } = request.body;
  const listed = logprobs === true ? 1 + (typeof likely === 'number' ? likely : 0) : 0;
  const perToken = PER_TOKEN + listed * PER_LIKELY_TOKEN;
  return Math.min(context.maxStreamBytes, ANY_STREAM + askedOutput(context, request, model) * perToken);
}

/** Counts the UTF-8 bytes of a stream's payloads up to a limit. */
export class StreamBudget {
  readonly #provider: string;
  #left: number;

  constructor(provider: string, bytes: number) {
    this.#provider = provider;
    this.#left = bytes;
  }

  /** Counts a payload. @throws ProviderError too_long */
  take(payload: string): void {
    this.#left -= Buffer.byteLength(payload);
    if (this.#left < 0)
      throw new ProviderError('too_long', `${this.#provider} sent more than max_tokens allows`);
  }
}
