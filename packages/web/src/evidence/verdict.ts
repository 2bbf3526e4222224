import type { BundleVerdict, EvidenceFault } from '@tallystick/core';
import { announce, byId, fromTemplate, icon, type State, setContents, slotOf } from '../dom.ts';
import type { EvidenceLater } from '../later/pq.ts';
import { later } from '../later/run.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { counted } from './digit-groups.ts';

/** The page's second script. */
export const rare = (): EvidenceLater => later() as unknown as EvidenceLater;

/** Shows the contents of a bundle. `known` is the fingerprint that the reader gave, or an empty text. */
export function showVerdict(verdict: BundleVerdict, known: string): void {
  const missing = verdict.completeness?.faults.length ?? 0;
  const faulty = verdict.corrections.filter(({ valid }) => !valid).length;
  if (missing + faulty > 0) {
    const { title, message } = prose.verdict[missing > 0 ? 'incomplete' : 'contradicted'];
    showCard('fail', title, formatText(message, counted(missing || faulty)), rare().contentsOf(verdict));
    return;
  }
  const kind = known === '' ? 'intact' : known === verdict.root ? trustedOr(verdict) : 'another';
  const state = kind === 'trusted' ? 'pass' : kind === 'another' ? 'fail' : 'unsure';
  const { title, message } = prose.verdict[kind];
  showCard(state, title, message, rare().contentsOf(verdict));
}

function trustedOr(verdict: BundleVerdict): 'trusted' | 'untrusted' | 'unlogged' | 'unwitnessed' {
  const { untrusted, unlogged, witnessed } = verdict;
  if (untrusted > 0) return 'untrusted';
  if (unlogged > 0) return 'unlogged';
  return witnessed?.satisfied === false ? 'unwitnessed' : 'trusted';
}

/** Shows why a bundle is refused. */
export function showFault(fault: EvidenceFault): void {
  const { title, message } = prose.verdict.refused;
  showCard('fail', title, formatText(message, fault.message), rare().placeOf(fault));
}

/** Shows that a file could not be read to its end. */
export function showUnreadable(error: unknown): void {
  const message = formatText(prose.text.unreadable, error instanceof Error ? error.message : String(error));
  showCard('unknown', prose.verdict.refused.title, message, document.createTextNode(''));
}

/** Shows a verdict, or what stands in its place, and announces it. */
export function showCard(state: State, title: string, message: string, more: Node): void {
  const card = fromTemplate('t-evidence', { icon: icon(state), title, message, more });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = state;
  const heading = slotOf(card, 'title');
  setContents(byId('result'), card);
  heading.focus();
  announce(`${title}. ${message}`, state);
}
