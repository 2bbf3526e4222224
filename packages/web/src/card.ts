import { element } from './dom.ts';

/** A number to be seen first, with its name and an explanation. */
export interface Card {
  readonly name: string;
  readonly number: string;
  readonly note: string;
}

export function cardsOf(cards: readonly Card[]): HTMLElement {
  const drawn = cards.map(({ name, number, note }) =>
    element(
      'div',
      '',
      element('dt', '', name),
      element('dd', 'figure-number', number),
      element('dd', 'help', note),
    ),
  );
  return element('dl', 'glance', ...drawn);
}
