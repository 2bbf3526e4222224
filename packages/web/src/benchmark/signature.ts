import { announce, button, byId, element, fromTemplate, icon, type State, setContents } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
import { formatText } from '../words.ts';
import type { Reading } from './read.ts';

/** Shows whether the documents are what the service signed; `again` reads all of them again. */
export function showSignatures(readings: readonly Reading[], trust: TrustInUse, again: () => unknown): void {
  const state = worstOf(readings);
  const { title, message } = prose.signature[state];
  const wanting = readings.filter((reading) => reading.state === state).length;
  const voucher = trust.site ?? prose.text.remembered;
  const text = formatText(message, wanting, readings.length, voucher, signersOf(readings));
  const actions =
    state === 'fail' || state === 'unknown'
      ? button(prose.text.again, '', again)
      : document.createTextNode('');
  const card = fromTemplate('t-signature', {
    icon: icon(state),
    title,
    message: text,
    documents: element('ul', 'documents', ...readings.map(rowOf)),
    notes: element('div', '', ...trust.refusals.map(refused)),
    actions,
  });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = state;
  setContents(byId('signature'), card);
  announce(`${title}. ${text}`, state);
}

const signersOf = (readings: readonly Reading[]): string =>
  [...new Set(readings.flatMap(({ signer }) => signer ?? []))].join(', ');

const WORST_FIRST = ['fail', 'unknown', 'unsure', 'pass'] as const satisfies readonly State[];

function worstOf(readings: readonly Reading[]): State {
  return WORST_FIRST.find((state) => readings.some((reading) => reading.state === state)) ?? 'unknown';
}

function rowOf({ path, state, detail }: Reading): Node {
  const link = element('a', '', path.replace('/v1/compute/', ''));
  link.setAttribute('href', path);
  const row = element('li', '', icon(state), link, element('span', 'detail', detail));
  row.dataset.state = state;
  return row;
}

function refused({ from, error }: TrustInUse['refusals'][number]): Node {
  return element('p', 'fine', `${prose.refusals[from]} ${error.message}`);
}
