import {
  formatTimestamp,
  fromHex,
  isObject,
  type TallyError,
  toBase64url,
  type Verification,
} from '@tallystick/core';
import { anchorOf } from './anchor.ts';
import { checkRow, checksOf, stateOf, tallyOf } from './checks.ts';
import {
  announce,
  byId,
  copyButton,
  element,
  fromTemplate,
  icon,
  type State,
  setContents,
  slotOf,
} from './dom.ts';
import type { Outcome, Question } from './evaluate.ts';
import { field, fieldsOf } from './fields.ts';
import { later } from './later/run.ts';
import { formatText, lookUp, prose } from './words.ts';

type Evaluated = Extract<Outcome, { fault: null }>;

/** Removes the verdict, which is no longer about the contents of the boxes. */
export function hideOutcome(): void {
  const result = byId('result');
  result.hidden = true;
  setContents(result);
  announce('');
}

/** Draws the result, announces it to screen readers, and scrolls to it. */
export function showOutcome(outcome: Outcome, question: Question): void {
  const result = show(drawn(outcome, question));
  result.querySelector('h2')?.focus({ preventScroll: true });
  const { top } = result.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) result.scrollIntoView();
}

interface Drawn {
  readonly parts: readonly Node[];
  /** The result in words. */
  readonly summary: string;
  readonly state: State;
}

/** Draws the result. */
export function drawn(outcome: Outcome, question: Question): Drawn {
  if (outcome.fault !== null) return drawnFault(outcome.fault, outcome.input);
  const { checks } = outcome.verdict;
  return {
    parts: [...partsOf(outcome, question)],
    summary: `${titleOf(outcome)}. ${messageOf(outcome, question)} ${tallyOf(checks)}.`,
    state: stateOfVerdict(outcome),
  };
}

type Fault = Partial<Pick<TallyError, 'field'>> & { readonly code: string; readonly message: string };

/** Shows what is wrong with an input, and how to mend it. */
export function showFault(fault: Fault, input: string): void {
  show(drawnFault(fault, input));
}

function show({ parts, summary, state }: Drawn): HTMLElement {
  const result = byId('result');
  setContents(result, ...parts);
  result.hidden = false;
  announce(summary, state);
  return result;
}

function drawnFault({ code, message, field: at }: Fault, input: string): Drawn {
  const title = formatText(prose.text.unreadable, input);
  const where = at === undefined ? message : `${at}: ${message}`;
  const advice = lookUp(prose.advice, code) ?? '';
  const part = fromTemplate('t-unreadable', { icon: icon('fail'), title, message: where, code, advice });
  return { parts: [part], summary: `${title}. ${where} ${advice}`, state: 'fail' };
}

export function stateOfVerdict({ verdict }: Evaluated): State {
  if (!verdict.valid) return 'fail';
  return standingOf(verdict) === 'trusted' ? 'pass' : 'unsure';
}

/** What holds of a valid receipt. */
function standingOf({ issuer, witnessed }: Verification): 'intact' | 'unwitnessed' | 'trusted' {
  if (!issuer.trusted) return 'intact';
  return witnessed?.satisfied === false ? 'unwitnessed' : 'trusted';
}

export function titleOf({ verdict, anchored }: Evaluated): string {
  if (verdict.valid) return prose.titles[standingOf(verdict)];
  if (verdict.integrity) {
    const failure = verdict.checks.find(({ ok }) => ok === false);
    return lookUp(prose.callTitles, failure?.name ?? null) ?? prose.titles.contradicted;
  }
  if (anchored !== null) return prose.titles.broken;
  return prose.titles[verdict.family === null ? 'unknown' : 'format'];
}

function messageOf({ verdict }: Evaluated, { trust }: Question): string {
  const { issuer, checks, valid, witnessed } = verdict;
  const failure = checks.find(({ ok }) => ok === false);
  if (!valid) return failure ? `${failure.name}: ${failure.detail}` : '';
  if (witnessed && standingOf(verdict) === 'unwitnessed') return `${later().witnessedText(witnessed)}.`;
  if (issuer.trusted) return formatText(prose.text.vouched, issuer.did, voucher(trust.site));
  const window = checks.find(({ name, ok }) => name === 'key_window' && ok === null);
  return issuer.status === 'registered' || issuer.status === 'unknown' || !window
    ? prose.issuer[issuer.status]
    : window.detail;
}

const voucher = (site: string | null): string =>
  site === null ? prose.text.bundleRemembered : formatText(prose.text.bundleOfSite, site);

function* partsOf(judged: Evaluated, question: Question): Generator<Node> {
  const { receipt, verdict, anchored } = judged;
  const kind = verdict.family === 'profile' ? verdict.profile : verdict.family;
  yield verdictCard(judged, question, kind);
  yield verdict.valid ? proofOf(judged, kind ?? '') : fromTemplate('t-nothing');
  if (verdict.family === 'metering' && anchored !== null) yield later().coverageOf(receipt, verdict);
  yield checksOf(verdict.checks);
  if (anchored !== null) {
    yield signaturesOf(judged);
    if (judged.anchor !== null) yield anchorOf(judged.anchor, verdict.checks, question.trust);
    yield hashOf(anchored);
  }
  const text = JSON.stringify(receipt);
  const heading = element(
    'div',
    'five-head',
    element('h3', '', prose.text.receipt),
    copyButton(text, prose.text.receiptAsJson),
  );
  yield element('section', 'block', heading, fieldsOf(receipt, kind));
}

function verdictCard(judged: Evaluated, question: Question, kind: string | null): DocumentFragment {
  const { verdict } = judged;
  const { issuer, integrity, valid, receipt_id, witnessed } = verdict;
  const trusted: State = issuer.trusted ? 'pass' : issuer.status === 'contradicted' ? 'fail' : 'unknown';
  const trustText = issuer.trusted
    ? prose.text.trusted
    : valid
      ? formatText(prose.text.notTrusted, messageOf(judged, question))
      : issuer.status === 'contradicted'
        ? prose.issuer.contradicted
        : prose.text.onlyValid;
  const key = issuer.key_state === 'unknown' ? null : formatText(prose.text.key, issuer.key_state);
  const names = [lookUp(prose.names, kind), receipt_id, issuer.did, key];
  const card = fromTemplate('t-verdict', {
    icon: icon(stateOfVerdict(judged)),
    title: titleOf(judged),
    message: messageOf(judged, question),
    integrity: claim(integrity ? 'pass' : 'fail', integrity ? prose.text.holds : prose.text.holdsNot),
    trust: claim(trusted, trustText),
    identity: [...names.filter((name) => typeof name === 'string'), tallyOf(verdict.checks)].join(' · '),
    time: timeNote(question),
  });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = stateOfVerdict(judged);
  if (witnessed !== null) later().addWitnesses(card, witnessed);
  return card;
}

function claim(state: State, text: string): HTMLElement {
  const made = element('span', '', icon(state), text);
  made.dataset.state = state;
  return made;
}

/** A sentence about the time of judging, if the reader chose it. */
function timeNote({ asOf, now }: Question): string {
  return asOf ? formatText(prose.text.asOf, formatTimestamp(now)) : '';
}

function proofOf({ verdict }: Evaluated, kind: string): DocumentFragment {
  const words = lookUp<{ proves: string[]; not: string[] }>(prose.proof, kind) ?? { proves: [], not: [] };
  const { text } = prose;
  const { issuer, checks } = verdict;
  const shown = checks.filter(
    ({ name, ok }) => ok === true && /^(anchor|witnessed|re(quest|sponse)$)/.test(name),
  );
  const signer = issuer.trusted
    ? formatText(text.trustedSigner, issuer.did)
    : formatText(text.keySigner, issuer.key_id);
  const items = (texts: readonly string[]): Node[] => texts.map((text) => element('li', '', text));
  const proof = fromTemplate('t-proof');
  setContents(
    slotOf(proof, 'proves'),
    ...items([
      formatText(text.notCharacterChanged, signer),
      ...shown.map(({ detail }) => detail),
      ...words.proves,
    ]),
  );
  const when = shown.some(({ name }) => name.startsWith('anchor')) ? text.onChain : text.when;
  const unproved = [...(issuer.trusted ? [] : [text.keyHolder]), when];
  setContents(slotOf(proof, 'not'), ...items([...unproved, ...words.not]));
  return proof;
}

/** Draws the issuer's signature and, for an envelope, those of the other two parties. */
function signaturesOf({ receipt, verdict: { checks } }: Evaluated): DocumentFragment {
  const parties = [
    ['signature', prose.text.issuer],
    ['signature_requester', prose.text.requester],
    ['signature_operator', prose.text.operator],
  ] as const;
  const rows = parties.flatMap(([name, party]) => {
    const check = checks.find((one) => one.name === name);
    return check === undefined ? [] : [checkRow(stateOf(check), party, check.detail)];
  });
  const block = fromTemplate('t-signatures');
  setContents(slotOf(block, 'list'), ...rows);
  return isObject(receipt) && rows.length > 1 ? block : document.createDocumentFragment();
}

function hashOf(hash: string): DocumentFragment {
  const block = fromTemplate('t-anchor');
  setContents(
    slotOf(block, 'fields'),
    field('SHA-256', hash),
    field('canonical_sha256', toBase64url(fromHex(hash))),
  );
  return block;
}
