import type { Logger } from 'pino';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CompressionStore } from '../compression-store.ts';
import type { ComputeMetrics } from '../metrics.ts';
import type { Compressed, Compressor } from '../pipeline/compressor-interface.ts';
import { objectsOf } from '../providers/members.ts';
import type { ChatBody } from '../types.ts';
import { cachePriceOf, modelsMeant } from './cache-price.ts';
import {
  type ConversationState,
  Conversations,
  FITTED,
  type SentMessages,
  sentNow,
} from './conversations.ts';
import { lengthOf, materialOf, sentBefore } from './messages.ts';
import { type CompressionOptions, DEFAULT_SHARE } from './options.ts';
import { isWorthNoting, mayGain } from './screen.ts';
import type { CompressionResult, CompressionTask } from './task.ts';
import { CompressionThread } from './thread.ts';
import { type Conversation, nameOf, UncutNotes } from './uncut-notes.ts';

/** Length in UTF-16 units from which prompts have a thread of their own, so that short ones do not wait behind them. */
const LONG = 400_000;
const SPARED =
  'Some messages were cut less than they could be, or not at all: changing them would cost more in later calls, because less could be read from the provider’s cache.';
const RECOVERABLE =
  'The request has neither svc.budget nor svc.retrieve, so only repeated text was removed, and more than half is left.';
const PROTECTED = 'The prompt exceeds the budget, because nothing more of it may be cut.';
const MISSING =
  'What `removed` lists is missing from the prompt, and the model cannot ask for it: with svc.retrieve it could.';
const TOOLLESS =
  'None of the candidate models accepts tools, so svc_retrieve was not added: only repeated text was removed, and the prompt exceeds the budget.';
const NEEDED =
  'The request needs all of the material, for example to add up, list or translate it, so nothing was cut and the prompt may exceed the budget.';
const NOTHING: ConversationState = { sent: null, blocks: new Map() };
const FAILED = 'The prompt could not be compressed at the moment and was sent unchanged.';

interface CompressorDependencies {
  readonly store: CompressionStore;
  /** The catalogue that is in use. */
  readonly catalogue: () => Catalogue;
  readonly metrics: Pick<ComputeMetrics, 'compressed'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Logger;
}

export function createCompressor({
  store,
  catalogue,
  metrics,
  clock,
  logger,
}: CompressorDependencies): Compressor {
  const conversations = new Conversations(store, clock);
  const done = (seconds: number): void => metrics.compressed(seconds);
  const threads = { short: new CompressionThread(done), long: new CompressionThread(done) };
  const run = (task: CompressionTask): Promise<CompressionResult> =>
    (lengthOf(task.messages) > LONG ? threads.long : threads.short).run(task);
  const uncut = new UncutNotes(conversations, logger);

  const untouched = (body: ChatBody, note: string | null = null): Compressed => ({
    body,
    compression: null,
    note,
  });

  const taskOf = (
    conversation: Conversation,
    { blocks }: ConversationState,
    form: SentMessages,
  ): CompressionTask => {
    const { messages, options, fit, account, body, sent } = conversation;
    // The router counts in this encoding.
    const encoding = fit === undefined ? encodingOf(catalogue(), body) : 'o200k_base';
    return {
      messages,
      tier: options.tier === 'extractive' || fit !== undefined ? 'extractive' : 'lossless',
      budget: fit ?? options.budget,
      retrieve: options.retrieve,
      forGood: options.forGood,
      code: options.code,
      mustFit: fit !== undefined,
      encoding,
      // A prompt that must fit has no other form that could be cheaper.
      cachePrice: fit === undefined ? cachePriceOf(modelsMeant(catalogue(), body), encoding) : null,
      account,
      form,
      sent,
      notes: blocks,
      binding: false,
    };
  };

  const recall = async (conversation: Conversation): Promise<ConversationState> => {
    await uncut.written(conversation);
    return conversations.recall(conversation.account, nameOf(conversation));
  };

  /** Sends each block as it was sent before, cut or whole. The form of a new block is stored before it is sent. */
  const cut = async (conversation: Conversation, remembered: ConversationState): Promise<Compressed> => {
    const { account, options, dry = false, fit } = conversation;
    const { sent: before, blocks } = remembered;
    // Where nothing else fits, even what was sent whole may be cut.
    const now = fit === undefined ? sentNow(options.tier, before, conversation.sent) : FITTED;
    const task = taskOf(conversation, remembered, now);
    uncut.forget(conversation);
    let result = await run(task);
    if (fit !== undefined && result.tokensAfter > fit) result = await cutAnew(task, fit, blocks);
    if (dry) return compressedBy(conversation, result);
    const standing = await conversations.remember(
      account,
      nameOf(conversation),
      { now, before },
      result.notes,
    );
    if (result.notes.some(({ key, value }) => standing.get(key) !== value))
      result = await run({ ...task, notes: standing, binding: true });
    return compressedBy(conversation, result);
  };

  /** The form that was sent before is too long by now. Cuts more than needed, so that the next call can keep this form. */
  const cutAnew = async (
    task: CompressionTask,
    fit: number,
    blocks: ReadonlyMap<string, string>,
  ): Promise<CompressionResult> => {
    const budget = Math.floor((fit * 3) / 4);
    const result = await run({ ...task, budget, sent: 0, notes: new Map() });
    const notes = result.notes.map((note) => ({ ...note, replaces: blocks.get(note.key) ?? null }));
    return { ...result, notes };
  };

  const compressLossless = async (conversation: Conversation): Promise<Compressed> => {
    const { messages, body, dry } = conversation;
    const mayShrink = mayGain(messages);
    if (!mayShrink && !isWorthNoting(messages)) return untouched(body);
    const remembered = conversation.sent === 0 ? NOTHING : await recall(conversation);
    if (wasCut(remembered)) return cut(conversation, remembered);
    if (dry !== true) uncut.note(conversation);
    if (!mayShrink) return untouched(body);
    const form = { ...sentNow('lossless', remembered.sent, conversation.sent), switches: [] };
    return compressedBy(conversation, await run(taskOf(conversation, remembered, form)));
  };

  return {
    async compress(request) {
      const { body, options, fit, dry } = request;
      const messages = objectsOf(body['messages']);
      const conversation = { ...request, messages, sent: sentBefore(messages) };
      if (options.tier === 'off') {
        if (dry !== true && isWorthNoting(messages)) uncut.note(conversation);
        return untouched(body);
      }
      const cuts = options.tier === 'extractive' || fit !== undefined;
      if (cuts && !messages.some((message) => materialOf(message).length > 0)) return untouched(body);
      try {
        return cuts
          ? await cut(conversation, await recall(conversation))
          : await compressLossless(conversation);
      } catch (error) {
        logger.error({ err: error }, 'a prompt could not be compressed');
        return untouched(body, FAILED);
      }
    },
    excerpt: (task) => threads.short.run(task),
    waiting: () => threads.short.waiting + threads.long.waiting,
    async close() {
      await uncut.close();
      await Promise.all([threads.short.close(), threads.long.close()]);
    },
  };
}

/** Whether something that a model could read may have been sent cut. */
function wasCut({ sent }: ConversationState): boolean {
  return sent !== null && sent.switches.length > 0 && sent.fitted === 0;
}

function compressedBy(
  { body, messages, sent, options, fit }: Conversation,
  result: CompressionResult,
): Compressed {
  const {
    before,
    after,
    tokenizer,
    estimate,
    tokensBefore,
    tokensAfter,
    methods,
    removed,
    missing,
    restored,
  } = result;
  const replaced = new Map(result.changed);
  return {
    body:
      replaced.size === 0
        ? body
        : { ...body, messages: messages.map((message, index) => replaced.get(index) ?? message) },
    compression: {
      tokenizer,
      estimate,
      tokensBefore,
      tokensAfter,
      methods,
      removed,
      layout: { before, after, sent, changed: restored },
    },
    note: noteOf(fit === undefined ? leftBy(options, result) : null, missing ? MISSING : null),
  };
}

function noteOf(...notes: readonly (string | null)[]): string | null {
  const given = notes.filter((note) => note !== null);
  return given.length === 0 ? null : given.join(' ');
}

/** Why more is left than the caller asked for; null where it is not more. */
function leftBy(
  { tier, budget, retrieve, toolless, forGood }: CompressionOptions,
  { tokensBefore, tokensAfter, needed, spared }: CompressionResult,
): string | null {
  if (needed) return NEEDED;
  const share = budget ?? DEFAULT_SHARE;
  const met = tokensAfter <= (share < 1 ? tokensBefore * share : share);
  if (tier !== 'extractive' || met) return spared ? SPARED : null;
  if (!retrieve && !forGood) return toolless ? TOOLLESS : RECOVERABLE;
  return spared ? SPARED : PROTECTED;
}

/** The encoding of the requested model; o200k for several models, or for one whose encoding is not public. */
function encodingOf(catalogue: Catalogue, { model }: ChatBody): string {
  const found = typeof model === 'string' ? catalogue.find(model) : null;
  if (found === null) return 'o200k_base';
  return found.tokenizer === 'estimate' ? found.id : `${found.tokenizer}_base`;
}
