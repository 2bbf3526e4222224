import type { Check } from '@tallystick/core';
import { element, icon, type State } from './dom.ts';
import { prose } from './words.ts';

export function stateOf({ ok }: Pick<Check, 'ok'>): State {
  if (ok === null) return 'unknown';
  return ok ? 'pass' : 'fail';
}

const GROUPS = ['fail', 'pass', 'unknown'] as const;

/** Draws every check by name with its detail; failed checks come first. */
export function checksOf(checks: readonly Check[]): HTMLElement {
  const block = element('section', 'block every', element('h3', '', prose.text.everyCheck));
  for (const state of GROUPS) {
    const members = checks.filter((check) => stateOf(check) === state);
    if (members.length === 0) continue;
    const list = element('ul', 'checks', ...members.map(({ name, detail }) => checkRow(state, name, detail)));
    block.append(element('h4', '', `${prose.groups[state]} (${members.length})`), list);
  }
  return block;
}

/** Draws one line of a list of checks. */
export function checkRow(state: State, name: string, detail: string): HTMLElement {
  const row = element(
    'li',
    '',
    icon(state),
    element('span', 'name', name),
    element('span', 'detail', detail),
  );
  row.dataset.state = state;
  return row;
}

/** Counts checks: `11 passed, 1 failed, 2 not checked`. */
export function tallyOf(checks: readonly Check[]): string {
  const numbers = GROUPS.map((state) => {
    const number = checks.filter((check) => stateOf(check) === state).length;
    return number === 0 ? '' : `${number} ${prose.groups[state].toLowerCase()}`;
  });
  return numbers.filter((text) => text !== '').join(', ');
}
