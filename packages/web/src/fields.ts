import { formatTimestamp, type JsonValue } from '@tallystick/core';
import { button, copyButton, element, setContents } from './dom.ts';
import { formatText, lookUp, prose } from './words.ts';

/** Number of characters of a text that are shown at first. */
const SHOWN_CHARACTERS = 1000;
/** Most members of one document that are drawn: with more, the page would only become slow. */
const SHOWN_MEMBERS = 400;

/** Draws all members of a receipt, nested as they are; those that are null are folded. @param kind the kind whose short names are explained */
export function fieldsOf(receipt: JsonValue, kind: string | null): HTMLElement {
  const glosses: Record<string, string> = { ...prose.glosses.all, ...lookUp<object>(prose.glosses, kind) };
  let left = SHOWN_MEMBERS;

  const list = (value: object, path: string): HTMLElement => {
    const rows: HTMLElement[] = [];
    const without: HTMLElement[] = [];
    for (const [name, member] of Object.entries(value)) {
      if (left-- <= 0) {
        rows.push(element('div', '', element('dt', '', '…'), element('dd', '', prose.text.moreMembers)));
        break;
      }
      const to = member === null ? without : rows;
      to.push(row(name, member as JsonValue, path === '' ? name : `${path}.${name}`));
    }
    const fields = element('dl', 'fields', ...rows);
    if (without.length === 0) return fields;
    const summary = element('summary', '', formatText(prose.text.nulls, without.length));
    return element(
      'div',
      '',
      fields,
      element('details', 'nulls', summary, element('dl', 'fields', ...without)),
    );
  };

  const row = (name: string, value: JsonValue, path: string): HTMLElement => {
    const term = element('dt', '', name);
    const gloss = lookUp(glosses, path);
    if (gloss !== undefined) term.append(element('span', 'gloss', gloss));
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      return element('div', 'group', term, element('dd', '', list(value, path)));
    }
    const description = element('dd', '', valueOf(value, name));
    if (value !== null) description.append(copyButton(asText(value), path));
    return element('div', '', term, description);
  };

  return typeof receipt === 'object' && receipt !== null
    ? list(receipt, '')
    : row(prose.text.document, receipt, '');
}

/** Draws a name with its whole value, and a button that copies it. */
export function field(name: string, value: string): HTMLElement {
  const description = element('dd', '', valueOf(value, ''), copyButton(value, name));
  return element('div', '', element('dt', '', name), description);
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function valueOf(value: JsonValue, name: string): HTMLElement {
  if (value === null || value === '')
    return element('span', 'value none', value === null ? 'null' : prose.text.emptyText);
  if (typeof value !== 'string') {
    const time = name === 'ts' && typeof value === 'number' ? ` (${formatTimestamp(value * 1000)})` : '';
    return element('span', 'value', JSON.stringify(value) + time);
  }
  const shown = element('span', /\s/.test(value) ? 'value text' : 'value');
  if (value.length <= SHOWN_CHARACTERS) {
    setContents(shown, value);
    return shown;
  }
  const rest = formatText(prose.text.showAll, value.length);
  setContents(
    shown,
    value.slice(0, SHOWN_CHARACTERS).toWellFormed(),
    '… ',
    button(rest, 'all', () => setContents(shown, value)),
  );
  return shown;
}
