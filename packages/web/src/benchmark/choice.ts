import { element, on } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { round } from './numbers.ts';

/** A figure for the budget that the reader chooses, the middle one at first. `id` tells it from other choices on the page. */
export function byBudget(
  id: string,
  budgets: readonly number[],
  figureAt: (budget: number) => HTMLElement,
): HTMLElement {
  const chosen = budgets[Math.floor(budgets.length / 2)] ?? 0;
  let shown = figureAt(chosen);
  const choice = choiceOf(id, budgets, chosen, (budget) => {
    const next = figureAt(budget);
    shown.replaceWith(next);
    shown = next;
  });
  return element('div', 'kinds', choice, shown);
}

/** Choice between the budgets, as native radio buttons. */
function choiceOf(
  id: string,
  budgets: readonly number[],
  chosen: number,
  choose: (budget: number) => void,
): HTMLElement {
  const legend = element('legend', '', prose.text.budget);
  const options = budgets.map((budget) => {
    const input = document.createElement('input');
    input.type = 'radio';
    input.name = `budget-${id}`;
    input.checked = budget === chosen;
    on(input, 'change', () => choose(budget));
    return element('label', '', input, element('span', '', round(budget)));
  });
  return element('fieldset', 'choice', legend, ...options);
}
