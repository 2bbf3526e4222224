const SVG = 'http://www.w3.org/2000/svg';

type Attributes = Readonly<Record<string, string | number>>;

/** Makes an SVG element. Numbers are rounded to a tenth of a pixel; text is never markup. */
export function svg(
  tag: string,
  attributes: Attributes,
  ...contents: readonly (Node | string)[]
): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, typeof value === 'number' ? String(Math.round(value * 10) / 10) : value);
  }
  made.append(...contents);
  return made;
}

/** Makes a group with a class. */
export function group(className: string, ...contents: readonly Node[]): SVGElement {
  return svg('g', { class: className }, ...contents);
}

/** Pixels that the longest of the texts may take. @param letter width of a wide letter, in pixels */
export function widthOf(texts: readonly string[], letter: number): number {
  return Math.max(0, ...texts.map((text) => text.length)) * letter;
}

/** Makes a line of text at a position. */
export function label(
  text: string,
  place: { readonly x: number; readonly y: number; readonly anchor?: 'start' | 'middle' | 'end' },
  className = '',
): SVGElement {
  const { x, y, anchor = 'start' } = place;
  return svg(
    'text',
    { x, y, 'text-anchor': anchor, ...(className === '' ? {} : { class: className }) },
    text,
  );
}
