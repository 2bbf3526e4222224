import { formatTimestamp, type JsonObject } from '@tallystick/core';
import { formatUsdc } from '@tallystick/ledger';
import type { CallSums } from './call-store.ts';
import { percentile, UNKNOWN_BAND } from './latency-bands.ts';

/** Lengths of the buckets of counts, in seconds. */
export const BUCKETS = { minute: 60, hour: 3_600, day: 86_400 } as const;

/** What the calls of a bucket are told apart by. */
export const GROUPINGS = ['none', 'model', 'provider', 'status', 'key'] as const;

/** One document for each bucket and group, newest first, from sums by band of latency. */
export function countDocuments(sums: readonly CallSums[]): JsonObject[] {
  const groups = new Map<string, CallSums[]>();
  for (const one of sums) {
    const name = JSON.stringify([one.at, one.by]);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()].map(documentOf);
}

function documentOf(group: readonly CallSums[]): JsonObject {
  const bands = new Map(group.map(({ band, calls }) => [band, calls]));
  bands.delete(UNKNOWN_BAND);
  const total = (name: 'calls' | 'errors' | 'promptTokens' | 'completionTokens'): number =>
    group.reduce((sum, one) => sum + one[name], 0);
  const amount = (name: 'cost' | 'saving'): string =>
    formatUsdc(group.reduce((sum, one) => sum + one[name], 0n));
  const [first] = group;
  return {
    at: formatTimestamp((first?.at ?? 0) * 1_000),
    by: first === undefined || first.by === '' ? null : first.by,
    calls: total('calls'),
    errors: total('errors'),
    cost_usdc: amount('cost'),
    saving_usdc: amount('saving'),
    prompt_tokens: total('promptTokens'),
    completion_tokens: total('completionTokens'),
    p50_ms: percentile(bands, 0.5),
    p95_ms: percentile(bands, 0.95),
  };
}
