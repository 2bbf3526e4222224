import type { Page } from 'playwright-core';

/** Adds up, from the next load on, how far the page's parts move without being asked to. */
export async function measureShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifted += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });`);
}

export const shifted = (page: Page): Promise<number> => page.evaluate('globalThis.shifted');
