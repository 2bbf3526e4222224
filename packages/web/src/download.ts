import { element } from './dom.ts';

/** A link that saves a JSON text to a file. */
export function downloadLink(text: string, name: string, label: string): HTMLElement {
  const link = element('a', 'button', label) as HTMLAnchorElement;
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  return link;
}
