import { element } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { Summary } from './documents.ts';

/** Draws the results that others report about themselves, marked as theirs. */
export function peersOf({ peers }: Summary): HTMLElement {
  return element('div', 'peers', ...peers.map(peerOf));
}

function peerOf({ name, says, note, source }: Summary['peers'][number]): Node {
  const quotes = says.map((text) => element('li', '', element('q', '', text)));
  return element(
    'article',
    'panel peer',
    element('p', 'tag', prose.text.theirs),
    element('h3', '', name),
    element('ul', '', ...quotes),
    element('p', 'help', note),
    element('p', 'help', linkTo(source)),
  );
}

/** A link if the source is an HTTPS address; otherwise the text. */
function linkTo(source: string): Node {
  if (!source.startsWith('https://')) return element('span', '', source);
  const link = element('a', '', formatText(prose.text.source, new URL(source).hostname));
  link.setAttribute('href', source);
  link.setAttribute('rel', 'noreferrer');
  return link;
}
