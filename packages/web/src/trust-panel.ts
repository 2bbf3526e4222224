import type { TallyError } from '@tallystick/core';
import { button, byId, copyButton, element, fromTemplate, setContents } from './dom.ts';
import { forget, store, type TrustInUse } from './trust.ts';
import { formatText, prose } from './words.ts';

/** Shows the trust that receipts are judged by. `changed` is called after the reader has remembered or forgotten a root. */
export function showTrust(trust: TrustInUse, changed: () => unknown): void {
  const { bundle, pin, site, remembered, refusals } = trust;
  const { text } = prose;
  const parts: Node[] = [];
  if (bundle === null || pin === null) parts.push(fromTemplate('t-no-bundle'));
  else {
    const from = site === null ? text.fromMemory : text.fromSite;
    parts.push(
      fromTemplate('t-bundle', {
        from,
        note: noteOn(site, remembered !== null),
        root: element('span', '', pin.root, ' ', copyButton(pin.root, text.fingerprint)),
        version: formatText(
          text.version,
          bundle.version,
          bundle.issued_at.slice(0, 10),
          bundle.expires_at.slice(0, 10),
        ),
        issuers: bundle.issuers.map(({ did, status }) => `${did} (${status})`).join(', ') || text.none,
        actions: remembered
          ? ''
          : button(text.rememberRoot, '', () => {
              store({ bundle, pin });
              changed();
            }),
      }),
    );
  }
  const named = (remembered?.takenBack ?? []).map((one) => element('li', '', one));
  if (named.length > 0) parts.push(fromTemplate('t-taken-back', { list: element('ul', '', ...named) }));
  for (const { from, error } of refusals) {
    parts.push(refusal(from === 'site' ? text.siteRefused : text.memoryRefused, error));
  }
  if (remembered) {
    const act = button(text.forgetRoot, 'quiet', () => {
      forget();
      changed();
    });
    parts.push(element('div', 'row', act));
  }
  setContents(byId('trust-state'), ...parts);
}

function noteOn(site: string | null, remembered: boolean): string {
  if (site === null) return prose.text.noteMemory;
  return formatText(remembered ? prose.text.noteBoth : prose.text.noteSite, site);
}

/** Draws what was refused, and why. */
export function refusal(title: string, { message, code }: TallyError): DocumentFragment {
  return fromTemplate('t-refusal', { title, message, code });
}
