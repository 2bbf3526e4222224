import { announce, button, byId, element, fromTemplate, icon, type State, setContents } from '../dom.ts';
import { statusProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
import { formatText } from '../words.ts';
import { forget } from './last-seen.ts';
import type { Reading } from './read.ts';
import { ageOf } from './times.ts';

type Outcome = keyof typeof prose.verdict;

const TONES: Readonly<Record<Outcome, State>> = {
  up: 'pass',
  degraded: 'unsure',
  down: 'fail',
  idle: 'unknown',
  untrusted: 'unsure',
  stale: 'unsure',
  rolled_back: 'fail',
  forked: 'fail',
  invalid: 'fail',
  unknown: 'unknown',
};

/** Shows the one sentence that is the page's answer. @param now Unix milliseconds */
export function showVerdict(reading: Reading, trust: TrustInUse, now: number, again: () => unknown): void {
  const outcome = outcomeOf(reading);
  const { title, message } = prose.verdict[outcome];
  const values = valuesOf(outcome, reading, now);
  const announcement = [formatText(message, ...values), reading.detail]
    .filter((part) => part !== '')
    .join(' ');
  const card = fromTemplate('t-verdict', {
    icon: icon(TONES[outcome]),
    title: formatText(title, ...values),
    message: announcement,
    notes: element(
      'div',
      '',
      ...trust.refusals.map(({ from, error }) =>
        element('p', 'fine', `${prose.refusals[from]} ${error.message}`),
      ),
    ),
    actions: element('div', 'row', ...actionsFor(outcome, again)),
  });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset['state'] = TONES[outcome];
  const place = byId('verdict');
  // Announced once, and again only when it changes, because it is read anew each minute.
  const changed = place.dataset['outcome'] !== outcome;
  place.dataset['outcome'] = outcome;
  setContents(place, card);
  if (changed) announce(`${formatText(title, ...values)}. ${announcement}`);
}

function outcomeOf({ standing, report }: Reading): Outcome {
  if (standing !== 'current') return standing;
  const states = report?.endpoints.map(({ state }) => state) ?? [];
  if (states.includes('down')) return 'down';
  if (states.includes('degraded')) return 'degraded';
  return states.includes('unknown') ? 'idle' : 'up';
}

function valuesOf(outcome: Outcome, { report, before }: Reading, now: number): unknown[] {
  if (report === null) return [];
  const { endpoints, issuer_did, sequence, issued_at } = report;
  const expected = outcome === 'idle' ? 'up' : outcome;
  const counted = endpoints.filter(({ state }) => state === expected).length;
  return [counted, issuer_did, sequence, ageOf(issued_at, now), endpoints.length, before?.sequence];
}

function actionsFor(outcome: Outcome, again: () => unknown): Node[] {
  const { text } = prose;
  if (outcome === 'rolled_back' || outcome === 'forked') {
    return [
      button(text.forget, '', () => {
        forget();
        return again();
      }),
    ];
  }
  return outcome === 'up' || outcome === 'idle' ? [] : [button(text.again, '', again)];
}
