import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Widths and colour schemes in which pages are tested. */
export const LOOKS = [
  [320, 'light'],
  [320, 'dark'],
  [1440, 'light'],
  [1440, 'dark'],
] as const;

export function lookOf(width: number, colorScheme: 'light' | 'dark'): BrowserContextOptions {
  return { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' };
}

/** Asserts that axe finds nothing up to WCAG 2.2 AA, and that nothing must be scrolled sideways. */
export async function expectAccessible(page: Page, width: number): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  );
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}
