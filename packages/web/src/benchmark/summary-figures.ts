import { element } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { Summary } from './documents.ts';
import { percent, round, span, tierName } from './numbers.ts';

/** Draws the benchmark in three numbers: the first tier at each budget, beside the second. */
export function summaryFiguresOf({ nodes }: Summary): HTMLElement {
  const { tiers } = nodes.semantic;
  const first = tiers[0]?.tier ?? '';
  const second = tiers.find(({ tier }) => tier !== first)?.tier ?? '';
  const cards = tiers
    .filter(({ tier }) => tier === first)
    .map(({ budget, kept, kept_ci95 }) => {
      const other = tiers.find((one) => one.tier === second && one.budget === budget);
      const { text } = prose;
      return element(
        'div',
        '',
        element('dt', '', formatText(text.glanceAt, round(budget))),
        element('dd', 'figure-number', percent(kept)),
        element('dd', 'help', formatText(text.glanceSpan, span(kept_ci95))),
        element('dd', 'help', other ? `${tierName(second)}: ${percent(other.kept)}` : ''),
      );
    });
  return element('dl', 'glance', ...cards);
}
