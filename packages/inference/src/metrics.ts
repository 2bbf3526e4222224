import type { NanoUsdc } from '@tallystick/ledger';
import { NANO_PER_USDC } from '@tallystick/ledger';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Model } from './catalogue/catalogue.ts';
import { priceAgeDays, retiresInDays } from './catalogue/upkeep.ts';
import type { RatedCall } from './learning/learning-store.ts';
import type { CompressionSummary } from './pipeline/compression-summary.ts';
import type { ProviderErrorKind } from './providers/provider.ts';
import type { Health } from './resilience/health.ts';
import type { DoubtReason, Usage } from './types.ts';

/** What became of a call that a shadow was drawn for. */
export type ShadowOutcome = 'answered' | 'failed' | 'unpaid' | 'busy';

/** The router's metrics. Labels name only providers and models of the catalogue, never what a caller sends. */
export interface ComputeMetrics {
  /** Counts a billed call; `complete` is false if its answer ended early. */
  billed(model: Model, usage: Usage, complete: boolean): void;
  /** Counts a provider's token counts that were not believed. */
  doubted(model: Model, why: DoubtReason): void;
  /** Counts a billed call of a comparison. */
  compared(arm: string, charge: NanoUsdc): void;
  /** Counts a call that is sent to another model too. @param model id in the catalogue */
  shadowed(model: string, outcome: ShadowOutcome): void;
  /** Counts a rating, of a call that need not be in a comparison. */
  rated(call: Pick<RatedCall, 'model' | 'arm' | 'rating'>): void;
  /** Counts one try at a provider, until its answer began or it failed. */
  tried(model: Model, outcome: 'answered' | ProviderErrorKind, seconds: number): void;
  /** Counts a prompt that was compressed in the thread. */
  compressed(seconds: number): void;
  /** Counts the savings of a billed call. */
  saved(summary: CompressionSummary, lostCacheTokens: number): void;
  /** Sets which models are resting. */
  health(models: readonly Model[], health: Pick<Health, 'available'>): void;
  /** Sets how old the prices are, and how long the models will be offered. */
  catalogue(models: readonly Model[], now: number): void;
  /** Counts calls that have ended and are not listed for now: they did not fit in the queue, or could not be written. */
  unlisted(calls: number): void;
  /** Counts a call whose content was to be kept and is not, because too much waited or the database refused it. */
  unkept(): void;
  /** Sets the amount that is reserved for calls under way. */
  reserved(amount: NanoUsdc): void;
}

export function createComputeMetrics(registry: Registry): ComputeMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'compute_calls_total',
    help: 'Billed calls; partial when the answer ended early.',
    labelNames: ['provider', 'model', 'outcome'],
    registers,
  });
  const tokens = new Counter({
    name: 'compute_tokens_total',
    help: 'Billed tokens. Those read from or written to a provider’s cache are prompt tokens too.',
    labelNames: ['provider', 'model', 'kind'],
    registers,
  });
  const compared = new Counter({
    name: 'compute_comparison_calls_total',
    help: 'Billed calls of a comparison, by its name and arm; arm b is what is tried out.',
    labelNames: ['arm'],
    registers,
  });
  const comparedUsdc = new Counter({
    name: 'compute_comparison_charged_usdc_total',
    help: 'What the calls of a comparison were charged, by its name and arm.',
    labelNames: ['arm'],
    registers,
  });
  const shadows = new Counter({
    name: 'compute_shadow_calls_total',
    help: 'Calls that were to be sent to the shadow model too: answered, failed, unpaid by the operator’s key, or busy with others.',
    labelNames: ['model', 'outcome'],
    registers,
  });
  const ratings = new Counter({
    name: 'compute_ratings_total',
    help: 'Ratings by callers; the arm is empty for a call in no comparison.',
    labelNames: ['model', 'arm'],
    registers,
  });
  const scores = new Counter({
    name: 'compute_rating_scores_total',
    help: 'Sum of the scores of these ratings, each from 0 to 100.',
    labelNames: ['model', 'arm'],
    registers,
  });
  const doubts = new Counter({
    name: 'compute_usage_doubted_total',
    help: 'Implausible token counts reported by a provider, by what is wrong with them; billed by the service’s own count.',
    labelNames: ['provider', 'model', 'why'],
    registers,
  });
  const tries = new Counter({
    name: 'compute_upstream_tries_total',
    help: 'Calls to providers, including retries, by outcome.',
    labelNames: ['provider', 'outcome'],
    registers,
  });
  const latency = new Histogram({
    name: 'compute_upstream_seconds',
    help: 'Time from sending a call to a provider to its answer: to the first chunk of a stream, otherwise to the whole answer.',
    labelNames: ['provider', 'model'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const prompts = new Counter({
    name: 'compute_compression_calls_total',
    help: 'Billed chat calls by their tier and by whether compression changed the prompt.',
    labelNames: ['tier', 'changed'],
    registers,
  });
  const saved = new Counter({
    name: 'compute_compression_saved_tokens_total',
    help: 'Input tokens that compression took out, by method.',
    labelNames: ['method'],
    registers,
  });
  const lost = new Counter({
    name: 'compute_compression_lost_cache_tokens_total',
    help: 'Tokens that a provider might have read from its cache without compression.',
    registers,
  });
  const compressing = new Histogram({
    name: 'compute_compression_seconds',
    help: 'Time to compress one prompt, in its thread.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  const unlisted = new Counter({
    name: 'compute_calls_unlisted_total',
    help: 'Calls whose row in the list of calls was dropped. Rows of billed calls are made again from receipts within a minute.',
    registers,
  });
  const unkept = new Counter({
    name: 'compute_contents_unkept_total',
    help: 'Calls whose prompt and answer were to be kept and are not: too much waited, or the database refused them.',
    registers,
  });
  const open = new Gauge({
    name: 'compute_breaker_open',
    help: '1 while this process does not call the model because it failed lately.',
    labelNames: ['provider', 'model'],
    registers,
    aggregator: 'max',
  });
  const priceAge = new Gauge({
    name: 'compute_price_age_days',
    help: 'Days since a model’s price was read at its source; absent where the catalogue gives none.',
    labelNames: ['provider', 'model'],
    registers,
    aggregator: 'max',
  });
  const retiresIn = new Gauge({
    name: 'compute_model_retires_in_days',
    help: 'Days until a model’s provider shuts it down, 0 or less from that day on; absent where no day is announced.',
    labelNames: ['provider', 'model'],
    registers,
    aggregator: 'max',
  });
  const reservedGauge = new Gauge({
    name: 'compute_ledger_reserved_usdc',
    help: 'Amount reserved for calls in progress, over all processes on the database.',
    registers,
    aggregator: 'max',
  });
  return {
    billed({ provider, id }, usage, complete) {
      const labels = { provider, model: id };
      calls.inc({ ...labels, outcome: complete ? 'complete' : 'partial' });
      tokens.inc({ ...labels, kind: 'prompt' }, usage.promptTokens);
      tokens.inc({ ...labels, kind: 'cache_read' }, usage.cachedTokens);
      tokens.inc({ ...labels, kind: 'cache_write' }, usage.cacheWriteTokens ?? 0);
      tokens.inc({ ...labels, kind: 'completion' }, usage.completionTokens);
    },
    compared(arm, charge) {
      compared.inc({ arm });
      comparedUsdc.inc({ arm }, Number(charge) / Number(NANO_PER_USDC));
    },
    shadowed: (model, outcome) => shadows.inc({ model, outcome }),
    rated({ model, arm, rating: { score } }) {
      const labels = { model, arm: arm ?? '' };
      ratings.inc(labels);
      scores.inc(labels, score);
    },
    doubted: ({ provider, id }, why) => doubts.inc({ provider, model: id, why }),
    tried({ provider, id }, outcome, seconds) {
      tries.inc({ provider, outcome });
      if (outcome === 'answered') latency.observe({ provider, model: id }, seconds);
    },
    compressed: (seconds) => compressing.observe(seconds),
    saved({ tier, compression }, lostCacheTokens) {
      prompts.inc({
        tier,
        changed: String(compression !== null && compression.tokensAfter < compression.tokensBefore),
      });
      lost.inc(lostCacheTokens);
      for (const [method, tokens] of Object.entries(compression?.methods ?? {}))
        saved.inc({ method }, Math.max(0, tokens));
    },
    health(models, health) {
      for (const model of models)
        open.set({ provider: model.provider, model: model.id }, health.available(model) ? 0 : 1);
    },
    catalogue(models, now) {
      // A model may have left the catalogue, or its date.
      priceAge.reset();
      retiresIn.reset();
      for (const model of models) {
        const labels = { provider: model.provider, model: model.id };
        const [age, left] = [priceAgeDays(model, now), retiresInDays(model, now)];
        if (age !== null) priceAge.set(labels, age);
        if (left !== null) retiresIn.set(labels, left);
      }
    },
    unlisted: (calls) => unlisted.inc(calls),
    unkept: () => unkept.inc(),
    reserved: (amount) => reservedGauge.set(Number(amount) / Number(NANO_PER_USDC)),
  };
}
