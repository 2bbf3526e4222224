import {
  fromBase64url,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
  parseNote,
  TallyError,
  toHex,
} from '@tallystick/core';
import { attempt } from '../attempt.ts';
import { copyButton, element, fromTemplate, icon, type State, setContents } from '../dom.ts';
import { field } from '../fields.ts';
import { logProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
import { formatText } from '../words.ts';
import { count } from './numbers.ts';

/** The log’s key in the trust in use; null if it has none. */
export function logKeyOf({ bundle }: TrustInUse): LogKey | null {
  const log = bundle?.log ?? null;
  return log && { origin: log.origin, publicKey: fromBase64url(log.public_key) };
}

/** Draws a checkpoint's note, and whether its signature can be relied on. */
export async function checkpointOf(note: string, trust: TrustInUse): Promise<Node[]> {
  const { text } = prose;
  const head = attempt(() => parseCheckpointText(parseNote(note).text));
  if (head instanceof TallyError) return [finding('fail', text.bad, head.message)];
  const lines = note
    .trimEnd()
    .split('\n')
    .map((line) => element('span', 'line', line));
  const value = element('dd', '', element('span', 'value', ...lines), copyButton(note, text.note));
  return [
    await signatureOf(note, trust),
    element(
      'dl',
      'fields',
      element('div', '', element('dt', '', text.note), value),
      field(text.rootHex, toHex(head.root)),
    ),
  ];
}

async function signatureOf(note: string, trust: TrustInUse): Promise<DocumentFragment> {
  const { text } = prose;
  const key = logKeyOf(trust);
  if (key === null) return finding('unsure', text.noKey, text.noKeyMessage);
  try {
    const { size } = await openCheckpoint(note, key);
    const bundle = trust.site === null ? text.bundleRemembered : formatText(text.bundleOfSite, trust.site);
    return finding('pass', text.good, formatText(text.goodMessage, bundle, count(size)));
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return finding('fail', text.bad, error.message);
  }
}

/** Draws a verdict by itself. @param checks its lines */
export function finding(
  state: State,
  title: string,
  message: string,
  checks: readonly Node[] = [],
): DocumentFragment {
  const card = fromTemplate('t-finding', { icon: icon(state), title, message });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = state;
  const list = card.querySelector('.checks');
  if (list && checks.length > 0) setContents(list, ...checks);
  else list?.remove();
  return card;
}
