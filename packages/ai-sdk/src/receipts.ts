import type {
  EmbeddingModelV4Middleware,
  JSONObject,
  LanguageModelV4Middleware,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { type CallReport, type ReceiptFetchOptions, receiptFetch } from '@tallystick/sdk';

export interface ReceiptsOptions extends Omit<ReceiptFetchOptions, 'onCall'> {
  /** Called with the report of every answer that has a receipt, before the caller of the model has the end of that answer. */
  readonly onCall?: ReceiptFetchOptions['onCall'] | undefined;
}

/** Gives the models of any provider package their receipts. */
export interface Receipts {
  /** For the provider: `createAnthropic({ baseURL, apiKey, fetch })`. */
  readonly fetch: typeof globalThis.fetch;
  /** For `wrapLanguageModel` around a model of that provider. */
  readonly middleware: LanguageModelV4Middleware;
  /** For `wrapEmbeddingModel` around an embedding model of that provider. */
  readonly embeddingMiddleware: EmbeddingModelV4Middleware;
}

interface Params {
  readonly abortSignal?: AbortSignal | undefined;
}

interface Result {
  providerMetadata?: SharedV4ProviderMetadata;
}

/**
 * Makes a `fetch` and middleware that together put what a service says about a call into `providerMetadata.tallystick`: `receiptId`,
 * `receipt`, `verdict` (of `verifyCall`, over the bytes that were sent and received), and of `svc` the members `routing`, `served`,
 * `billing` and `compression`. The middleware alone adds nothing: only the `fetch` sees those bytes.
 */
export function createReceipts({ onCall, ...options }: ReceiptsOptions = {}): Receipts {
  // Each call gets a signal of its own, which every provider package hands on to `fetch`: by it the two find each other.
  const reports = new WeakMap<AbortSignal, CallReport>();
  const withReceipt = <R extends Result>(result: R, { abortSignal }: Params): R => {
    const report = abortSignal && reports.get(abortSignal);
    if (report === undefined) return result;
    const tallystick = { ...result.providerMetadata?.['tallystick'], ...shown(report) };
    return { ...result, providerMetadata: { ...result.providerMetadata, tallystick } };
  };
  return {
    fetch: (input, init) => {
      const note = async (report: CallReport): Promise<void> => {
        if (init?.signal) reports.set(init.signal, report);
        await onCall?.(report);
      };
      return receiptFetch({ ...options, onCall: note })(input, init);
    },
    middleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => withOwnSignal(params),
      wrapGenerate: async ({ doGenerate, params }) => withReceipt(await doGenerate(), params),
      async wrapStream({ doStream, params }) {
        const { stream, ...result } = await doStream();
        return { ...result, stream: stream.pipeThrough(finishAtEnd((part) => withReceipt(part, params))) };
      },
    },
    embeddingMiddleware: {
      specificationVersion: 'v4',
      transformParams: async ({ params }) => withOwnSignal(params),
      wrapEmbed: async ({ doEmbed, params }) => withReceipt(await doEmbed(), params),
    },
  };
}

/** The same parameters with a signal that no other call has, and that aborts when theirs does. */
function withOwnSignal<P extends Params>(params: P): P {
  return { ...params, abortSignal: AbortSignal.any(params.abortSignal ? [params.abortSignal] : []) };
}

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Hands a stream's parts on, `finish` only when the stream has ended: some providers send it before the end of the answer. */
function finishAtEnd(
  complete: (part: Finish) => Finish,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  let finish: Finish | undefined;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'finish') finish = part;
      else controller.enqueue(part);
    },
    flush(controller) {
      if (finish !== undefined) controller.enqueue(complete(finish));
    },
  });
}

function shown({ receiptId, receipt, verdict, svc }: CallReport): JSONObject {
  const { routing = null, served = null, billing = null, compression = null } = svc ?? {};
  const verified = verdict as unknown as JSONObject;
  return { receiptId, receipt, verdict: verified, routing, served, billing, compression };
}
