import { constants, PerformanceObserver } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { collectYoung } from './young-generation.ts';

const { NODE_PERFORMANCE_GC_MINOR: MINOR, NODE_PERFORMANCE_GC_FLAGS_FORCED: FORCED } = constants;

it('collects young objects at once, and hands the function to nobody else', async () => {
  const collected = new Promise<unknown>((resolve) => {
    new PerformanceObserver((list, observer) => {
      for (const entry of list.getEntries()) {
        const { kind, flags } = (entry as unknown as { detail: { kind: number; flags: number } }).detail;
        if (kind !== MINOR || flags !== FORCED) continue;
        observer.disconnect();
        resolve(kind);
      }
    }).observe({ entryTypes: ['gc'] });
  });
  collectYoung();
  expect(await collected).toBe(MINOR);
  expect(globalThis.gc).toBeUndefined();
});
