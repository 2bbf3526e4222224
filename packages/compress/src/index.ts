export type { Account } from './account.ts';
export type { Block, Method, Removal, Step } from './blocks/blocks.ts';
export type { Kind } from './blocks/kind.ts';
export { type Compressed, compress } from './compress.ts';
export type { RememberedSelection, Selection } from './extract/selection.ts';
export type { ChatMessage, ContentPart, MessagePart } from './messages.ts';
export type { CompressOptions, Tier } from './options.ts';
export { restore } from './restore.ts';
export { type Tokenizer, tokenizerFor } from './tokens/tokenizer.ts';
