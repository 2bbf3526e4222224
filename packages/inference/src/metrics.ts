import type { NanoUsdc } from '@tallystick/ledger';
import { NANO_PER_USDC } from '@tallystick/ledger';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Model } from './catalogue/catalogue.ts';
import type { CompressionSummary } from './pipeline/compression-summary.ts';
import type { ProviderErrorKind } from './providers/provider.ts';
import type { Health } from './resilience/health.ts';
import type { DoubtReason, Usage } from './types.ts';

/** The router's metrics. Labels name only providers and models of the catalogue, never what a caller sends. */
export interface ComputeMetrics {
  /** Counts a billed call; `complete` is false if its answer ended early. */
  billed(model: Model, usage: Usage, complete: boolean): void;
  /** Counts a provider's token counts that were not believed. */
  doubted(model: Model, why: DoubtReason): void;
  /** Counts one try at a provider, until its answer began or it failed. */
  tried(model: Model, outcome: 'answered' | ProviderErrorKind, seconds: number): void;
  /** Counts a prompt that was compressed in the thread. */
  compressed(seconds: number): void;
  /** Counts the savings of a billed call. */
  saved(summary: CompressionSummary, lostCacheTokens: number): void;
  /** Sets which models are resting. */
  health(models: readonly Model[], health: Pick<Health, 'available'>): void;
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
  const open = new Gauge({
    name: 'compute_breaker_open',
    help: '1 while this process does not call the model because it failed lately.',
    labelNames: ['provider', 'model'],
    registers,
  });
  const reservedGauge = new Gauge({
    name: 'compute_ledger_reserved_usdc',
    help: 'Amount reserved for calls in progress, over all processes on the database.',
    registers,
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
    reserved: (amount) => reservedGauge.set(Number(amount) / Number(NANO_PER_USDC)),
  };
}
