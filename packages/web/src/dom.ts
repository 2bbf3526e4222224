import { reveal } from './reveal.ts';
import { prose } from './words.ts';

/** Passed, failed, not checked, or not to be relied on. Every icon has words beside it that say the same. */
export type State = 'pass' | 'fail' | 'unknown' | 'unsure';

const SVG = 'http://www.w3.org/2000/svg';

/** The element with an id, which must exist and be of the expected kind. */
export function byId<T extends HTMLElement = HTMLElement>(id: string, kind?: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof (kind ?? HTMLElement)) return found as T;
  throw new Error(`The page has no such #${id}.`);
}

/** Calls `act` at each event of a type. Its result, such as a promise, is ignored. */
export function on(target: EventTarget, type: string, act: (event: Event) => unknown): void {
  target.addEventListener(type, act);
}

type Content = string | Node;

/** An element with a class and contents; text goes through `shown`. */
export function element(tag: string, className: string, ...contents: readonly Content[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  setContents(made, ...contents);
  return made;
}

/** Replaces the contents of an element. */
export function setContents(target: Element, ...contents: readonly Content[]): void {
  target.replaceChildren(...contents.map((part) => (typeof part === 'string' ? shown(part) : part)));
}

/** Text nodes for any text: no markup in it takes effect, and no character in it stays invisible. */
function shown(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const piece of reveal(text)) {
    if (!piece.marked) {
      fragment.append(piece.text);
      continue;
    }
    const mark = document.createElement('span');
    mark.className = 'mark';
    mark.textContent = piece.text;
    fragment.append(mark);
  }
  return fragment;
}

/** A copy of a template's contents with its slots filled. */
export function fromTemplate(id: string, slots: Readonly<Record<string, Content>> = {}): DocumentFragment {
  const copy = byId(id, HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  for (const [name, content] of Object.entries(slots)) setContents(slotOf(copy, name), content);
  return copy;
}

/** A slot in a template, by name. */
export function slotOf(root: ParentNode, name: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(`[data-slot="${name}"]`);
  if (found === null) throw new Error(`The template has no slot ${name}.`);
  return found;
}

export function icon(state: State): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const use = document.createElementNS(SVG, 'use');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `#icon-${state}`);
  svg.append(use);
  return svg;
}

/** A button that does not submit a form. */
export function button(text: string, className: string, act: () => unknown): HTMLElement {
  const made = element('button', className, text);
  made.setAttribute('type', 'button');
  on(made, 'click', act);
  return made;
}

/** A button that copies the exact text; nothing if the browser gives the page no clipboard. */
export function copyButton(text: string, what: string): Node {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) return new Text();
  const label = element('span', '', prose.text.copy);
  const made = button('', 'copy', async () => {
    await clipboard.writeText(text);
    setContents(label, prose.text.copied);
    setTimeout(() => setContents(label, prose.text.copy), 1500);
  });
  setContents(made, label, element('span', 'hidden', ` ${what}`));
  return made;
}

/** Announces a text to screen readers: a failure at once, all else after what they are saying. */
export function announce(text: string, state: State = 'pass'): void {
  setContents(byId('announcement'), state === 'fail' ? '' : text);
  setContents(byId('alert'), state === 'fail' ? text : '');
}
