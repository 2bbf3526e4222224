import {
  BaseCallbackHandler,
  type HandleLLMNewTokenCallbackFields,
  type NewTokenIndices,
} from '@langchain/core/callbacks/base';
import type { BaseMessage } from '@langchain/core/messages';
import type { Generation, LLMResult } from '@langchain/core/outputs';
import { type CallReport, type ReceiptFetchOptions, receiptFetch } from '@tallystick/sdk';

/** The most reports without a run, and failed runs without a report, that are kept. */
const MAX_KEPT = 1_000;

interface Run {
  readonly runId: string;
  /** Run of the chain or agent that called the model. */
  readonly parentRunId: string | undefined;
}

/** The report of a call, and the run of the chat model that made the call. */
export interface RunReceipt extends CallReport, Run {}

export interface TallystickCallbackHandlerFields extends Omit<ReceiptFetchOptions, 'onCall'> {
  /**
   * Called with the receipt of a run, before the run's caller has the end of its answer. For a run that fails in mid-stream it may
   * be called a little later, and `receipt` may be null: then the service has it under `receiptId`.
   */
  readonly onReceipt?: ((receipt: RunReceipt) => unknown) | undefined;
  /** Called with the report of every answer that has a receipt, such as those of embeddings, which have no run. */
  readonly onCall?: ReceiptFetchOptions['onCall'] | undefined;
}

/**
 * Collects the receipts of chat models, each for its own run, also when runs overlap. A model needs both the handler and its `fetch`:
 * `new ChatOpenAI({ configuration: { baseURL, fetch: handler.fetch }, callbacks: [handler] })`. The message that `invoke` or `batch`
 * returns has the report in `response_metadata.tallystick` too. The pieces of a stream have left by the time of the receipt.
 *
 * LangChain tells a handler the id of an answer and nothing else of it, so that id finds the receipt. Where a provider gave one id
 * to two answers at the same time, `onReceipt` gets neither, and `onCall` both.
 */
export class TallystickCallbackHandler extends BaseCallbackHandler {
  readonly name = 'tallystick';
  /** For the model: `configuration: { baseURL, fetch }` of ChatOpenAI, `clientOptions: { fetch }` of ChatAnthropic. */
  readonly fetch: typeof globalThis.fetch;
  readonly #onReceipt: TallystickCallbackHandlerFields['onReceipt'];
  readonly #unclaimed: CallReport[] = [];
  /** Id of the answer that a run is streaming, by run. */
  readonly #streaming = new Map<string, string>();
  /** Runs that failed before the report of their answer came, by the answer's id. */
  readonly #failed = new Map<string, Run>();

  constructor({ onReceipt, onCall, ...options }: TallystickCallbackHandlerFields = {}) {
    super({ _awaitHandler: true });
    this.#onReceipt = onReceipt;
    this.fetch = receiptFetch({
      ...options,
      onCall: async (report) => {
        await onCall?.(report);
        const run = this.#failed.get(report.answerId ?? '');
        if (run === undefined && this.#unclaimed.push(report) > MAX_KEPT) this.#unclaimed.shift();
        if (run !== undefined) await this.#onReceipt?.({ ...report, ...run });
        this.#failed.delete(report.answerId ?? '');
      },
    });
  }

  override handleLLMNewToken(
    _token: string,
    _index: NewTokenIndices,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    fields?: HandleLLMNewTokenCallbackFields,
  ): void {
    const id = messageOf(fields?.chunk)?.id;
    if (id !== undefined && !this.#streaming.has(runId)) this.#streaming.set(runId, id);
  }

  override async handleLLMEnd(
    { generations }: LLMResult,
    runId: string,
    parentRunId?: string,
  ): Promise<void> {
    this.#streaming.delete(runId);
    const messages = generations.flat().flatMap((generation) => messageOf(generation) ?? []);
    const report = this.#claim(messages[0]?.id);
    if (report === undefined) return;
    const receipt = { ...report, runId, parentRunId };
    for (const message of messages) message.response_metadata['tallystick'] = receipt;
    await this.#onReceipt?.(receipt);
  }

  override async handleLLMError(_error: unknown, runId: string, parentRunId?: string): Promise<void> {
    const answerId = this.#streaming.get(runId);
    this.#streaming.delete(runId);
    const report = this.#claim(answerId);
    if (report !== undefined) await this.#onReceipt?.({ ...report, runId, parentRunId });
    else if (answerId !== undefined) this.#failed.set(answerId, { runId, parentRunId });
    const [oldest = ''] = this.#failed.keys();
    if (this.#failed.size > MAX_KEPT) this.#failed.delete(oldest);
  }

  /** Takes the report of the answer with this id, if there is exactly one. */
  #claim(answerId: string | undefined): CallReport | undefined {
    const [report, ...others] = this.#unclaimed.filter((unclaimed) => unclaimed.answerId === answerId);
    if (answerId === undefined || report === undefined || others.length > 0) return undefined;
    this.#unclaimed.splice(this.#unclaimed.indexOf(report), 1);
    return report;
  }
}

function messageOf(generation: Generation | undefined): BaseMessage | undefined {
  return (generation as { message?: BaseMessage } | undefined)?.message;
}
