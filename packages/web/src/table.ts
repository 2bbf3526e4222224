import { element } from './dom.ts';

type Cell = string | Node;

/**
 * A table in which the first cell of each row names the row; if it is too wide, it scrolls by itself, also by keyboard.
 * @param words indexes, from 0, of the columns that hold words and not numbers
 */
export function tableOf(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  words: readonly number[] = [],
): HTMLElement {
  const className = (column: number): string => (words.includes(column) ? 'words' : '');
  const head = columns.map((text, column) => {
    const cell = element('th', className(column), text);
    cell.setAttribute('scope', 'col');
    return cell;
  });
  const body = rows.map(([name = '', ...cells]) => {
    const first = element('th', '', name);
    first.setAttribute('scope', 'row');
    return element('tr', '', first, ...cells.map((cell, at) => element('td', className(at + 1), cell)));
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
