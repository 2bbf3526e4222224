import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeFindings } from './axe-findings.ts';

/** Widths and colour schemes in which pages are tested. */
export const LOOKS = [
  [320, 'light'],
  [320, 'dark'],
  [1440, 'light'],
  [1440, 'dark'],
] as const;

/** Each width and each colour scheme of the console. `npm run bench -- console` has all six, with pictures. */
export const CONSOLE_LOOKS = [
  [1440, 'light'],
  [768, 'dark'],
  [390, 'light'],
] as const;

export function lookOf(width: number, colorScheme: 'light' | 'dark'): BrowserContextOptions {
  return { viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' };
}

/** Asserts that axe finds nothing up to WCAG 2.2 AA, and that nothing must be scrolled sideways. */
export async function expectAccessible(page: Page, width: number): Promise<void> {
  // A page that is loaded when it is wanted has nothing in it until then.
  await page.waitForSelector('h1');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  await expectNothingForAxe(page);
}

/** Asserts that axe finds nothing up to WCAG 2.2 AA. @param options as of `axeFindings` */
export async function expectNothingForAxe(
  page: Page,
  options: Parameters<typeof axeFindings>[1] = {},
): Promise<void> {
  expect(await axeFindings(page, options)).toEqual([]);
}
