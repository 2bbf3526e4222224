/** Escaped markup. */
export interface Html {
  readonly markup: string;
}

type HtmlPart = string | number | Html | readonly HtmlPart[] | null | undefined;

/** Makes markup from a template: values are escaped, lists are joined, and null and undefined become nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return { markup: strings.map((text, index) => text + render(values[index])).join('') };
}

/** Marks text as markup. Only for our own constants. */
export function trusted(markup: string): Html {
  return { markup };
}

function render(part: HtmlPart): string {
  if (part === null || part === undefined) return '';
  if (Array.isArray(part)) return part.map(render).join('');
  if (typeof part === 'object') return (part as Html).markup;
  return escape(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Each paragraph of a description as an element. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((one) => html`<p>${prose(one)}</p>`)}`;
}

/** Prose with `code` in backticks, as descriptions are written. */
export function prose(text: string): Html {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}
