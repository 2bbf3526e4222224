import { cardsOf } from '../card.ts';
import { copyButton, element, icon, type State } from '../dom.ts';
import { field } from '../fields.ts';
import { logProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';
import type { LogStatus } from './documents.ts';
import { clockTime, count, duration } from './numbers.ts';

/** Draws the size of the log, in four numbers. @param now Unix milliseconds */
export function numbersOf(log: LogStatus, now: number): HTMLElement {
  const { text } = prose;
  const { chain, next_posting_at, period_seconds } = log;
  const due = (Date.parse(next_posting_at) - now) / 1000;
  const chainNote =
    chain === null ? text.noChain : formatText(text.onChainNote, chain.network, chain.chain_id);
  return cardsOf([
    { name: text.accepted, number: count(log.accepted), note: text.acceptedNote },
    { name: text.covered, number: count(log.tree_size), note: text.coveredNote },
    { name: text.onChain, number: count(log.anchored_size), note: chainNote },
    chain === null
      ? { name: text.due, number: '–', note: text.noChain }
      : {
          name: text.due,
          number: duration(due),
          note: formatText(text.dueNote, clockTime(next_posting_at), duration(period_seconds)),
        },
  ]);
}

/** Draws whether the log accepts hashes and posts roots on time. */
export function standingOf({ accepting, posting, overdue_seconds, chain }: LogStatus): HTMLElement[] {
  const { text } = prose;
  const troubles = [
    accepting === 'ok' ? null : formatText(text.notAccepting, accepting),
    posting === 'ok' || chain === null ? null : formatText(text.heldUp, posting),
    overdue_seconds > 0 && chain !== null ? formatText(text.overdue, duration(overdue_seconds)) : null,
  ].filter((trouble) => trouble !== null);
  if (troubles.length > 0) return troubles.map((trouble) => line('fail', trouble));
  return chain === null ? [] : [line('pass', text.accepting)];
}

function line(state: State, words: string): HTMLElement {
  const made = element('p', 'standing', icon(state), words);
  made.dataset.state = state;
  return made;
}

/** Draws the values that a monitor needs. */
export function monitorOf({ origin, verifier_key, chain }: LogStatus): HTMLElement[] {
  const { text } = prose;
  const account = chain === null ? [] : [field(text.account, chain.address)];
  const site = globalThis.location.origin;
  const command = `tally log monitor --url ${site} --vkey '${verifier_key}' --state log.txt`;
  return [
    element('div', 'command', element('code', '', command), copyButton(command, text.command)),
    element(
      'dl',
      'fields',
      field(text.origin, origin),
      field(text.verifierKey, verifier_key),
      ...account,
      field(text.tiles, `${site}/tile/`),
    ),
  ];
}
