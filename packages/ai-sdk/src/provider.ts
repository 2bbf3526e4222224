import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type EmbeddingModelV4,
  type LanguageModelV4,
  NoSuchModelError,
  type ProviderV4,
} from '@ai-sdk/provider';
import { wrapEmbeddingModel, wrapLanguageModel } from 'ai';
import { createReceipts, type ReceiptsOptions } from './receipts.ts';

export interface TallystickSettings extends ReceiptsOptions {
  /** Address of the service's inference API, such as `https://api.example.com/v1/compute`. */
  readonly baseURL: string;
  /** API key of the service, `k_…`. A service in development needs none. */
  readonly apiKey?: string | undefined;
  /** Headers of every request, such as `X-Agent-DID`. */
  readonly headers?: Record<string, string> | undefined;
}

/** `tallystick('auto')`, or any model that `GET /v1/compute/models` lists. */
export interface TallystickProvider extends ProviderV4 {
  (modelId: string): LanguageModelV4;
}

/**
 * Creates a provider for the AI SDK over chat completions and embeddings of one service. `providerMetadata.tallystick` of an answer
 * holds its receipt, as `createReceipts` describes. The service's own parameters go into `providerOptions.tallystick`:
 * `svc`, `provider`, `cost_quality`.
 */
export function createTallystick({
  baseURL,
  apiKey,
  headers,
  ...options
}: TallystickSettings): TallystickProvider {
  const { fetch, middleware, embeddingMiddleware } = createReceipts(options);
  const compatible = createOpenAICompatible({
    name: 'tallystick',
    baseURL,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...(apiKey !== undefined && { apiKey }),
    ...(headers !== undefined && { headers }),
  });
  const languageModel = (modelId: string): LanguageModelV4 =>
    wrapLanguageModel({ model: compatible(modelId), middleware });
  const embeddingModel = (modelId: string): EmbeddingModelV4 =>
    wrapEmbeddingModel({ model: compatible.embeddingModel(modelId), middleware: embeddingMiddleware });
  return Object.assign(languageModel, {
    specificationVersion: 'v4' as const,
    languageModel,
    embeddingModel,
    imageModel(modelId: string): never {
      throw new NoSuchModelError({ modelId, modelType: 'imageModel' });
    },
  });
}
