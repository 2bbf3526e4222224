import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds up to WCAG 2.2 AA: each rule, and the HTML of what breaks it. @param exclude selectors of what it passes over */
export async function axeFindings(
  page: Page,
  { exclude = [] }: { readonly exclude?: readonly string[] } = {},
): Promise<(readonly [rule: string, html: readonly string[]])[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (left) =>
      (window as unknown as { axe: typeof axe }).axe.run(
        { include: [['html']], exclude: left.map((selector) => [selector]) },
        {
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
          // Takes less time on a page of many elements: neither selectors nor what passed is looked at.
          resultTypes: ['violations'],
          selectors: false,
        },
      ),
    exclude,
  );
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)] as const);
}
