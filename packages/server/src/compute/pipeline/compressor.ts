import type { ChatBody } from '../types.ts';

/** What became of a request's body on its way to the provider. */
interface Compressed {
  readonly body: ChatBody;
  /** Input tokens that the provider does not get. */
  readonly savedTokens: number;
}

/** Makes a prompt shorter before it is routed. What a provider's cache depends on passes to the byte. */
export interface Compressor {
  compress(body: ChatBody): Promise<Compressed> | Compressed;
}

/** Sends everything as it came. */
export const passthrough: Compressor = { compress: (body) => ({ body, savedTokens: 0 }) };
