import { formatTimestamp, type SessionFault, type SessionVerification } from '@tallystick/core';
import { checkRow } from '../checks.ts';
import { byId, element, fromTemplate, icon, type State, setContents, slotOf } from '../dom.ts';
import { formatText, prose as pageProse } from '../words.ts';
import { type JudgedSession, stateOf } from './judged.ts';
import { sessionProse as prose } from './prose.ts';
import { relationsOf } from './relations.ts';
import { timelineOf } from './timeline.ts';

/** Most faults that are listed under a verdict; each also stands in its place. */
const LISTED_FAULTS = 20;

/** Shows how far the reading of a session is. */
export function showProgress(name: string, done: number, of: number): void {
  const bar = document.createElement('progress');
  const text = formatText(prose.reading, name, done, of);
  bar.max = of;
  bar.value = done;
  bar.setAttribute('aria-label', text);
  const result = byId('result');
  setContents(result, element('div', 'panel', element('p', '', text), bar));
  result.hidden = false;
}

/** Shows the verdicts. @param asOf the time of judging in Unix milliseconds, if the reader chose it */
export function showSessions(judged: readonly JudgedSession[], asOf: number | null): void {
  const result = byId('result');
  const sections = new Map(judged.map((session) => [session, sectionOf(session, asOf)]));
  const linkTo = (session: JudgedSession): HTMLElement => {
    const link = document.createElement('a');
    link.href = `#${sections.get(session)?.id}`;
    setContents(link, `${session.name}: ${titleOf(session.verdict)}`);
    return link;
  };
  for (const [index, section] of [...sections.values()].entries()) section.id = `session-${index + 1}`;
  setContents(result, ...(judged.length > 1 ? [overviewOf(judged, linkTo)] : []), ...sections.values());
  result.hidden = false;
  result.querySelector('h2')?.focus({ preventScroll: true });
  const { top } = result.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) result.scrollIntoView();
}

/** The verdict in a sentence. */
export function summaryOf({ name, verdict }: JudgedSession): string {
  return `${name}: ${titleOf(verdict)}. ${messageOf(verdict)}`;
}

function overviewOf(
  judged: readonly JudgedSession[],
  linkTo: (session: JudgedSession) => HTMLElement,
): HTMLElement {
  const title = element('h2', '', formatText(prose.several, judged.length));
  title.tabIndex = -1;
  return element(
    'section',
    'panel',
    title,
    element('p', 'help', prose.severalHelp),
    relationsOf(judged, linkTo),
  );
}

function sectionOf({ name, verdict }: JudgedSession, asOf: number | null): HTMLElement {
  return element(
    'section',
    'session',
    cardOf(name, verdict, asOf),
    ...(verdict.faults.length > 0 ? [faultsOf(verdict.faults)] : []),
    verdict.valid ? proofOf(verdict) : fromTemplate('t-session-doubt'),
    timelineOf(verdict),
  );
}

function titleOf(verdict: SessionVerification): string {
  const { titles } = prose;
  if (verdict.valid) return verdict.trusted ? titles.valid : titles.intact;
  const { faults, state, references } = verdict;
  if (faults.length === 1) return formatText(titles.faults, titles.oneFault);
  if (faults.length > 1) return formatText(titles.faults, formatText(titles.manyFaults, faults.length));
  if (state === 'none') return formatText(titles.faults, titles.none);
  return formatText(titles.faults, references.contradicts > 0 ? titles.contradicts : titles.contradicted);
}

/** The facts in the order in which the command line says them. */
function messageOf(verdict: SessionVerification): string {
  const { state, count, recorder, anchored_up_to: anchored, references } = verdict;
  const signer = recorder?.by === 'service' ? recorder.issuer_did : recorder?.key_id;
  const facts = formatText(
    prose.facts,
    prose.states[state],
    count,
    signer ?? prose.nobody,
    anchored === null ? prose.notAnchored : formatText(prose.anchored, anchored),
    references.not_given > 0 ? formatText(prose.withoutReceipts, references.not_given) : '',
  );
  return stateOf(verdict) === 'unsure' ? `${facts} ${prose.pin}` : facts;
}

function cardOf(name: string, verdict: SessionVerification, asOf: number | null): DocumentFragment {
  const { integrity, valid, trusted } = verdict;
  const claim = (state: State, text: string): HTMLElement => {
    const made = element('span', '', icon(state), text);
    made.dataset['state'] = state;
    return made;
  };
  const { holds, holdsNot } = prose.integrity;
  const card = fromTemplate('t-session', {
    icon: icon(stateOf(verdict)),
    title: titleOf(verdict),
    message: messageOf(verdict),
    integrity: claim(integrity ? 'pass' : 'fail', integrity ? holds : holdsNot),
    trust: claim(
      trusted ? 'pass' : 'unknown',
      trusted ? prose.trust.pinned : valid ? prose.trust.unknown : prose.trust.onlyValid,
    ),
    file: name,
    time: asOf === null ? '' : formatText(pageProse.text.asOf, formatTimestamp(asOf)),
  });
  setContents(slotOf(card, 'facts'), ...factsOf(verdict));
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset['state'] = stateOf(verdict);
  return card;
}

function factsOf(verdict: SessionVerification): HTMLElement[] {
  const { labels } = prose;
  const { recorder, references, continues, parent, anchored_up_to: anchored, state } = verdict;
  const isReferring = Object.values(references).some((number) => number > 0);
  const facts: (readonly [string, string | null])[] = [
    [labels.id, verdict.id],
    [labels.signer, recorder && signerOf(recorder)],
    [labels.state, { open: prose.open, closed: prose.closed, none: prose.empty }[state]],
    [labels.anchored, anchored === null ? prose.noAnchor : formatText(prose.number, anchored)],
    [
      labels.references,
      isReferring
        ? formatText(prose.referenced, references.valid, references.not_given, references.contradicts)
        : prose.noReferences,
    ],
    [labels.continues, continues && formatText(prose.continued, continues.id, continues.count)],
    [labels.parent, parent && formatText(prose.begun, parent.id, parent.seq)],
    [labels.head, verdict.head],
  ];
  return facts.flatMap(([name, value]) =>
    value === null ? [] : [element('div', '', element('dt', '', name), element('dd', '', value))],
  );
}

function signerOf({
  by,
  key_id: key,
  issuer_did: did,
}: NonNullable<SessionVerification['recorder']>): string {
  return by === 'service' ? formatText(prose.service, did) : formatText(prose.ownKey, key);
}

function faultsOf(faults: readonly SessionFault[]): HTMLElement {
  const rows = faults.slice(0, LISTED_FAULTS).map(({ name, line, seq, detail }) => {
    const place = seq === null ? formatText(prose.at, line) : formatText(prose.atNumber, line, seq);
    return checkRow('fail', name, line === null ? detail : `${detail} (${place})`);
  });
  const more = faults.length - rows.length;
  return element(
    'section',
    'block',
    element('h3', '', prose.faultsTitle),
    element('ul', 'checks', ...rows),
    ...(more > 0 ? [element('p', 'help', formatText(prose.moreFaults, more))] : []),
  );
}

function proofOf(verdict: SessionVerification): DocumentFragment {
  const { proves, not } = prose;
  const { recorder, count, state, anchored_up_to: anchored, references } = verdict;
  const isOwnKey = recorder?.by === 'own_key';
  const signer = recorder === null ? prose.nobody : signerOf(recorder);
  const proof = fromTemplate('t-proof');
  const fill = (slot: string, texts: readonly (string | null)[]): void =>
    setContents(
      slotOf(proof, slot),
      ...texts.flatMap((text) => (text === null ? [] : [element('li', '', text)])),
    );
  fill('proves', [
    formatText(proves.order, signer, count),
    state === 'closed' ? proves.closed : null,
    anchored === null ? null : formatText(proves.anchored, anchored),
    references.valid > 0 ? formatText(proves.references, references.valid) : null,
  ]);
  fill('not', [
    ...verdict.notes,
    isOwnKey ? not.ownKey : not.service,
    isOwnKey && anchored !== null ? not.unanchored : null,
    not.unseen,
    not.values,
  ]);
  return proof;
}
