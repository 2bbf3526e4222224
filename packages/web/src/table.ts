import { element } from './dom.ts';

type Cell = string | Node;

/** A table whose first cell of each row names it; it scrolls by itself where it is too wide, also by keyboard. */
export function tableOf(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
): HTMLElement {
  const head = columns.map((text) => {
    const cell = element('th', '', text);
    cell.setAttribute('scope', 'col');
    return cell;
  });
  const body = rows.map(([name = '', ...cells]) => {
    const first = element('th', '', name);
    first.setAttribute('scope', 'row');
    return element('tr', '', first, ...cells.map((cell) => element('td', '', cell)));
  });
  const table = element(
    'table',
    '',
    element('caption', 'hidden', caption),
    element('thead', '', element('tr', '', ...head)),
    element('tbody', '', ...body),
  );
  const scroller = element('div', 'scroll', table);
  scroller.tabIndex = 0;
  scroller.setAttribute('role', 'region');
  scroller.setAttribute('aria-label', caption);
  return scroller;
}
