import { TallyError } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { AUTO } from '../router/auto.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Compressed, ToCompress } from './compressor-interface.ts';
import type { PipelineContext } from './context.ts';
import { promptOf } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/** Number of context sizes that are tried, the largest first. */
const MAX_TRIES = 3;
/** Percent by which tokenizers may differ. */
const MARGIN_PERCENT = 2;

/**
 * Cuts a prompt that no model accepts until one does: what the question needs least if the model can retrieve it or the
 * caller does without it, else only repetitions. Null if that is not enough, or the caller allows neither.
 * @param route throws context_too_long if no model accepts what is left
 */
export async function fitToContext<T>(
  { catalogue, compressor }: Pick<PipelineContext, 'catalogue' | 'compressor'>,
  request: ChatRequest,
  input: ToCompress,
  route: (compressed: Compressed) => Promise<T>,
): Promise<T | null> {
  const { tier, retrieve } = request.compression;
  if (tier === 'off' || (tier === 'lossless' && !retrieve)) return null;
  const { texts, extraTokens } = promptOf({ ...request.body, messages: [] });
  const messages = request.body['messages'];
  const beside = promptOf({ messages: messages ?? [] }).extraTokens;
  const fixed = beside + (await countPrompt({ texts, extraTokens }, 'o200k'));
  for (const contextSize of contextSizesOf(catalogue.models, request).slice(0, MAX_TRIES)) {
    const fit = Math.floor((contextSize * (100 - MARGIN_PERCENT)) / 100) - fixed;
    if (fit <= 0) return null;
    const compressed = await compressor.compress({ ...input, fit });
    if ((compressed.compression?.tokensAfter ?? Number.POSITIVE_INFINITY) > fit) return null;
    try {
      return await route({
        ...compressed,
        note: compressed.note === null ? NOTE : `${NOTE} ${compressed.note}`,
      });
    } catch (error) {
      if (!(error instanceof TallyError && error.code === 'context_too_long')) throw error;
    }
  }
  return null;
}

const NOTE = 'No model here has a context of that size, so more was cut than the budget asked for.';

/** The most tokens that a prompt may have for each of the candidate models, the largest first. */
function contextSizesOf(models: readonly Model[], { model: requested, maxOutput }: ChatRequest): number[] {
  const eligible = models.filter(
    ({ id, upstreamModel, kind }) =>
      kind === 'chat' && (requested === AUTO || requested === id || requested === upstreamModel),
  );
  const contextSizes = eligible.map((model) => model.context - Math.min(model.maxOutput, maxOutput ?? 0));
  return [...new Set(contextSizes)].sort((a, b) => b - a);
}
