import { formatTimestamp, TallyError, type Trust } from '@tallystick/core';
import { type ForeignVerification, verifyForeign } from '@tallystick/core/foreign';
import { checksOf, tallyOf } from '../checks.ts';
import { announce, byId, element, fromTemplate, icon, type State, setContents, slotOf } from '../dom.ts';
import { dataOf, formatText, prose as pageProse } from '../words.ts';
import type words from './words.json';

const prose = (dataOf('words') as typeof words).foreign;

/** What foreign receipts are judged by. */
interface ForeignBasis {
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether the reader chose `now`; otherwise it is the clock's time. */
  readonly asOf: boolean;
  readonly trust: Trust;
  /** The entry that a tlog-proof is about; null if it was not given. */
  readonly entry: Uint8Array | null;
  readonly isWanted: () => boolean;
}

/**
 * Judges a file that is no receipt of ours. If it holds foreign ones, shows the verdict unless `isWanted` no longer holds.
 * Returns whether it holds any, or the error of a pinned key that can't be read.
 */
export async function judgeForeign(
  file: Uint8Array,
  { now, asOf, trust, entry, isWanted }: ForeignBasis,
): Promise<boolean | TallyError> {
  const key = byId('pinned-key', HTMLTextAreaElement).value.trim();
  try {
    const verdict = await verifyForeign(file, {
      now,
      trust,
      entry: entry ?? undefined,
      keys: key === '' ? [] : [key],
    });
    if (verdict !== null && isWanted()) show(verdict, asOf ? now : null);
    return verdict !== null;
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
}

function show(verdict: ForeignVerification, asOf: number | null): void {
  const result = byId('result');
  setContents(result, cardOf(verdict, asOf), proofOf(verdict), checksOf(verdict.checks));
  result.hidden = false;
  const summary = `${titleOf(verdict)}. ${messageOf(verdict)} ${tallyOf(verdict.checks)}.`;
  announce(summary, verdict.valid ? 'pass' : 'fail');
  result.querySelector('h2')?.focus({ preventScroll: true });
  const { top } = result.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) result.scrollIntoView();
}

function titleOf({ valid, integrity, issuer }: ForeignVerification): string {
  if (valid) return prose.titles[issuer.trusted ? 'trusted' : 'intact'];
  return prose.titles[integrity ? 'contradicted' : 'broken'];
}

function messageOf({ valid, issuer, checks, signers }: ForeignVerification): string {
  const failure = checks.find(({ ok }) => ok === false);
  if (!valid && failure !== undefined) return `${failure.name}: ${failure.detail}`;
  const signed = signers.length === 0 ? prose.unsigned : formatText(prose.signedBy, signers.join(', '));
  return issuer.trusted ? signed : `${signed} ${prose.pin}`;
}

function cardOf(verdict: ForeignVerification, asOf: number | null): DocumentFragment {
  const { valid, integrity, issuer, family, profile, receipt_id: id, count, checks } = verdict;
  const state: State = valid ? (issuer.trusted ? 'pass' : 'unsure') : 'fail';
  const claim = (of: State, text: string): HTMLElement => {
    const made = element('span', '', icon(of), text);
    made.dataset['state'] = of;
    return made;
  };
  const { holds, holdsNot } = pageProse.text;
  const trust = issuer.trusted ? prose.trusted : valid ? prose.notTrusted : prose.onlyValid;
  const facts = [
    prose.names[family],
    profile,
    id,
    issuer.did,
    formatText(prose.several, count),
    tallyOf(checks),
  ];
  const card = fromTemplate('t-verdict', {
    icon: icon(state),
    title: titleOf(verdict),
    message: messageOf(verdict),
    integrity: claim(integrity ? 'pass' : 'fail', integrity ? holds : holdsNot),
    trust: claim(issuer.trusted ? 'pass' : 'unknown', trust),
    identity: facts.filter((fact) => fact !== null).join(' · '),
    time: asOf === null ? '' : formatText(pageProse.text.asOf, formatTimestamp(asOf)),
  });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset['state'] = state;
  return card;
}

/** What it proves, and what such receipts do not cover. */
function proofOf({ valid, signers, notes }: ForeignVerification): DocumentFragment {
  if (!valid) return fromTemplate('t-nothing');
  const proof = fromTemplate('t-proof');
  const proves = formatText(prose.proves, signers.join(', '));
  setContents(slotOf(proof, 'proves'), element('li', '', proves));
  setContents(slotOf(proof, 'not'), ...notes.map((note) => element('li', '', note)));
  return proof;
}
