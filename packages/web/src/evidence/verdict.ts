import type { BundleVerdict, EvidenceFault } from '@tallystick/core';
import { announce, byId, element, fromTemplate, icon, type State, setContents, slotOf } from '../dom.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import { counted } from './digit-groups.ts';

/** Shows the contents of a bundle. `known` is the fingerprint that the reader gave, or an empty text. */
export function showVerdict(verdict: BundleVerdict, known: string): void {
  const kind = known === '' ? 'intact' : known === verdict.root ? 'trusted' : 'another';
  const state = ({ intact: 'unsure', trusted: 'pass', another: 'fail' } as const)[kind];
  const { title, message } = prose.verdict[kind];
  show(state, title, message, contentsOf(verdict));
}

/** Shows why a bundle is refused. */
export function showFault({ reason, message, path }: EvidenceFault): void {
  const fine = element('p', 'fine', `${prose.text.reason} `, element('code', '', reason));
  if (path !== null) fine.append(` · ${prose.text.file} `, element('code', '', path));
  show('fail', prose.verdict.refused.title, formatText(prose.verdict.refused.message, message), fine);
}

/** Shows that a file could not be read to its end. */
export function showUnreadable(error: unknown): void {
  const message = formatText(prose.text.unreadable, error instanceof Error ? error.message : String(error));
  show('unknown', prose.verdict.refused.title, message, document.createTextNode(''));
}

function show(state: State, title: string, message: string, more: Node): void {
  const card = fromTemplate('t-evidence', { icon: icon(state), title, message, more });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = state;
  const heading = slotOf(card, 'title');
  setContents(byId('result'), card);
  heading.focus();
  announce(`${title}. ${message}`);
}

function contentsOf(verdict: BundleVerdict): Node {
  const { manifest, receipts, anchored, untrusted } = verdict;
  const { text } = prose;
  return fromTemplate('t-contents', {
    root: verdict.root,
    issuer: manifest.issuer_did,
    tenant: manifest.tenant,
    period: formatText(text.period, manifest.period.from, manifest.period.to),
    exported: manifest.issued_at,
    receipts:
      untrusted === 0 ? counted(receipts) : formatText(text.untrusted, counted(receipts), counted(untrusted)),
    anchored: formatText(text.anchored, counted(anchored), counted(receipts - anchored)),
    metering: counted(verdict.metering),
    purged: formatText(text.purged, counted(verdict.purged), counted(manifest.purged.length)),
    files: counted(verdict.files),
    manifest: verdict.manifestSha256,
  });
}
